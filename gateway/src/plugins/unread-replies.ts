// Bounds replies that their readers have not taken yet: how many bytes of them an organization and a key may have here,
// and how long a reader may take. A reader that takes nothing loses only its own connection.
import { type Caller, callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { Shares, type SharesOptions, type Taken } from '@methods/base/shares';
import { overShare } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { callerOf } from './caller.ts';

const LIMITS: SharesOptions = { placesMax: 256 << 20, perOrganizationMax: 64 << 20, perKeyMax: 32 << 20 };
/** The system buffers this much of a reply, whether it is read or not. */
const SMALL_BYTES = 16 * 1024;
/** The maximum size of the reply to a change. */
const CHANGE_BYTES = 4 << 20;
const SLOW_MS = 30_000;
/** The slowest reader that is accepted: after `SLOW_MS`, a second for this many bytes. */
const BYTES_A_SECOND = 32 * 1024;

/** One for all surfaces. */
export class UnreadReplies {
  private readonly bytes: Shares;

  constructor(
    readonly clock: Clock,
    limits: Partial<SharesOptions> = {},
  ) {
    this.bytes = new Shares({ ...LIMITS, ...limits });
  }

  take(caller: Caller, bytes: number): Taken {
    return this.bytes.take(caller.orgId, callerId(caller), bytes);
  }
}

/** Routes of `scope`, which has callers. */
export function addUnreadReplies(scope: FastifyInstance, replies: UnreadReplies): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    // A change is refused before it is made, and its reply is never refused.
    if (request.method === 'GET') return done();
    const place = replies.take(callerOf(request), CHANGE_BYTES);
    if (!place.ok) return done(overShare('bytes of replies', place));
    place.leave();
    done();
  });
  scope.addHook('onSend', (request, reply, payload: unknown, done) => {
    const bytes = sizeOf(payload);
    if (bytes === null && !isEventStream(reply)) watchStream(reply, replies.clock);
    if (bytes === null || bytes <= SMALL_BYTES || request.caller === null) return done(null, payload);
    const place = replies.take(request.caller, bytes);
    if (!place.ok && request.method === 'GET') return done(overShare('bytes of replies', place));
    const slow = replies.clock.after(SLOW_MS + (1_000 * bytes) / BYTES_A_SECOND, () => reply.raw.destroy());
    reply.raw.once('close', () => {
      slow.cancel();
      if (place.ok) place.leave();
    });
    done(null, payload);
  });
}

/** Returns the number of characters of a text. Null: it is sent in parts. */
function sizeOf(payload: unknown): number | null {
  if (typeof payload === 'string') return payload.length;
  if (payload === null || payload === undefined) return 0;
  return Buffer.isBuffer(payload) ? payload.length : null;
}

/** The event streams of runs supervise their readers themselves. */
function isEventStream(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('text/event-stream');
}

/** A reply in parts waits for its reader, which must make progress. */
export function watchStream(reply: FastifyReply, clock: Clock): void {
  const { raw } = reply;
  let sentBytes = 0;
  const look = () => {
    const { socket } = raw;
    if (socket === null) return;
    if (socket.writableLength > 0 && socket.bytesWritten === sentBytes) return void raw.destroy();
    sentBytes = socket.bytesWritten;
    timer = clock.after(SLOW_MS, look);
  };
  let timer = clock.after(SLOW_MS, look);
  raw.once('close', () => timer.cancel());
}

/** Counts what of a body in parts is large as unread until the reply ends. @throws rate_limited over a share */
export function unreadParts(replies: UnreadReplies, caller: Caller, { raw }: FastifyReply): (bytes: number) => void {
  return (bytes) => {
    if (bytes <= SMALL_BYTES) return;
    const place = replies.take(caller, bytes);
    if (!place.ok) throw overShare('bytes of replies', place);
    raw.once('close', place.leave);
  };
}
