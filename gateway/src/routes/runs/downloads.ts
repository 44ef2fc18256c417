// Limits the number and pace of downloads of run files, and sets the headers that make a browser only save them.
import { callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import { overShare } from '@methods/errors/service-error';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';

/** Per process. Each holds a stream from a node until its reader is done. */
const PLACES = { placesMax: 100, perOrganizationMax: 20, perKeyMax: 10 };

export class Downloads {
  readonly pace: DownloadPace;
  private readonly places = new Shares(PLACES);

  constructor(clock: Clock) {
    this.pace = new DownloadPace(clock);
  }

  /** Counts the download until `signal` reports the end of the reply. @throws ServiceError `rate_limited` */
  begin(request: FastifyRequest, reply: FastifyReply): AbortSignal {
    const caller = callerOf(request);
    const place = this.places.take(caller.orgId, callerId(caller));
    if (!place.ok) throw overShare('downloads of files', place);
    const left = new AbortController();
    reply.raw.once('close', () => {
      place.leave();
      left.abort();
    });
    return left.signal;
  }
}

/**
 * Methods and callers write files, and a page among them would act as the person who opens it here. So a file is never
 * shown: it has no type of its own, is saved under its name, and may run nothing.
 */
export function asDownload(reply: FastifyReply, type: string, name: string): FastifyReply {
  return reply
    .header('content-type', type)
    .header('content-disposition', attachment(name))
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff');
}

/** RFC 6266: the name in ASCII for old clients, and in full. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^ !#-$&-[\]-~]/gu, '_');
  if (plain === name) return `attachment; filename="${name}"`;
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (it) => `%${it.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

const BYTES_PER_SECOND = 64 << 20;
/** Shorter waits are added to the next one. */
const WAIT_MS_MIN = 20;
/** Organizations that read nothing now are removed beyond this number. */
const KNOWN_MAX = 1_000;

/**
 * Limits how fast all readers of an organization together read the files of runs. Each byte passes through the
 * database, a node and this process, and is unpacked for a single file, so an endless reader must leave processor time
 * to others.
 */
export class DownloadPace {
  /** When each organization's reads so far are within its pace. */
  private readonly overAtMs = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Counts bytes that were read. Null: the next ones may be read at once. */
  took(orgId: OrgId, bytes: number): Promise<void> | null {
    const nowMs = this.clock.monotonicMs();
    if (this.overAtMs.size >= KNOWN_MAX) this.forget(nowMs);
    const overAtMs = Math.max(nowMs, this.overAtMs.get(orgId) ?? 0) + (bytes * 1_000) / BYTES_PER_SECOND;
    this.overAtMs.set(orgId, overAtMs);
    const waitMs = overAtMs - nowMs;
    return waitMs < WAIT_MS_MIN ? null : new Promise((goOn) => void this.clock.after(waitMs, goOn));
  }

  async *paced(orgId: OrgId, parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const part of parts) {
      await this.took(orgId, part.length);
      yield part;
    }
  }

  private forget(nowMs: number): void {
    for (const [orgId, overAtMs] of this.overAtMs) if (overAtMs <= nowMs) this.overAtMs.delete(orgId);
  }
}
