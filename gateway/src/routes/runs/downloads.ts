// Limits the number and pace of downloads of run files, and sets the headers that make a browser only save them.
import { callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { Shares } from '@methods/base/shares';
import { overShare } from '@methods/errors/over-share';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { DownloadPace } from './download-pace.ts';

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
