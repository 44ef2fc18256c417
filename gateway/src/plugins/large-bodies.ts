// Large bodies have bounds of their own, so that those of one organization do not delay others: how many bytes of them
// an organization has here at a time, and how much of the event loop their parsing takes, with turns by organization.
import type { Clock } from '@methods/base/clock';
import { Shares } from '@methods/base/shares';
import { overShare } from '@methods/errors/over-share';
import { ServiceError } from '@methods/errors/service-error';
import { FairQueue, type QueuedJob } from '@methods/threads/fair-queue';
import type { FastifyInstance } from 'fastify';
import { callerOf } from './caller.ts';

/** A body up to this is parsed within 5 ms. */
export const LARGE_BODY_BYTES = 64 * 1024;

const BYTES = { placesMax: 256 << 20, perOrganizationMax: 32 << 20, perKeyMax: 32 << 20 };
const WAITING = { small: 64, large: 0, all: 512, allBytes: BYTES.placesMax };
/** After a body was parsed the event loop is left to others for so many times as long. */
const REST = 4;
/** Of one rest: a process that was stopped for a while does not rest for it. */
const REST_MS_MAX = 200;

interface Turn extends QueuedJob {
  readonly begin: () => void;
}

/** One for all surfaces. */
export class LargeBodies {
  readonly bytes = new Shares(BYTES);
  private readonly queue = new FairQueue<Turn>(WAITING);
  private resting = false;

  constructor(private readonly clock: Clock) {}

  /** Resolves with what `parse` returns, when it is the organization's turn. @throws ServiceError over its share */
  parse<T>(orgId: string, bytes: number, parse: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        try {
          resolve(parse());
        } catch (error) {
          reject(error);
        }
      };
      const admission = this.queue.add({ orgId, bytes, isLarge: false, begin });
      if (admission === 'waits') this.next();
      else reject(refusal(admission));
    });
  }

  private next(): void {
    if (this.resting) return;
    const turn = this.queue.take(() => true, { large: false });
    if (turn === null) return;
    const beganMs = this.clock.monotonicMs();
    turn.begin();
    this.resting = true;
    const restMs = Math.min(REST * (this.clock.monotonicMs() - beganMs), REST_MS_MAX);
    this.clock.after(restMs, () => {
      this.resting = false;
      this.next();
    });
  }
}

function refusal(share: 'share' | 'full'): ServiceError {
  return overShare('large bodies', {
    share: share === 'share' ? 'organization' : 'all',
    max: share === 'share' ? WAITING.small : WAITING.all,
  });
}

/** Routes of `scope`, which has callers: what a body may take is taken before its first byte is read. */
export function addLargeBodies(scope: FastifyInstance, largeBodies: LargeBodies): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const bytes = encoding === undefined ? Number(length ?? 0) : request.routeOptions.bodyLimit;
    // What is beyond the limit of the route is refused by its length.
    if (!(bytes > LARGE_BODY_BYTES) || bytes > request.routeOptions.bodyLimit) return done();
    const caller = callerOf(request);
    const place = largeBodies.bytes.take(caller.orgId, '', bytes);
    if (!place.ok) return done(overShare('bytes of request bodies', place));
    reply.raw.once('close', place.leave);
    done();
  });
}
