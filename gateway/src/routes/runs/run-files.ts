// GET …/runs/:id/files: what the steps of a run have saved as files, as one archive.
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { callerId } from '@methods/auth/caller';
import { Shares } from '@methods/base/shares';
import { overShare } from '@methods/errors/over-share';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { Bytes } from '../uploads/upload-schemas.ts';
import { runShown } from './run-acts.ts';
import { type RunRouteParts, runIdOf } from './run-reply.ts';
import { NoQuery, RunParams, replies } from './run-schemas.ts';
import { describedRun, type RunSurface } from './run-surface.ts';

/** Of this process. Each holds a stream from a node for as long as its reader takes. */
const PLACES = { placesMax: 100, perOrganizationMax: 20, perKeyMax: 10 };
const TYPE = 'application/gzip';
/** Two empty blocks end a tar. */
const NO_FILES = gzipSync(Buffer.alloc(1_024));

export function addRunFiles(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const { scheduler } = parts;
  const places = new Shares(PLACES);
  const archive = { description: 'A gzip tar; an empty one where the run has saved no files.' };
  const schema = {
    ...describedRun(surface, 'runFiles', 'Read the files of a run'),
    description:
      'The files its steps have saved so far, under the paths that file values name (steps/<step>/files/<name>), as long as the run is kept.',
    params: RunParams,
    querystring: NoQuery,
    response: { ...replies({}), 200: { ...archive, content: { [TYPE]: { schema: Bytes } } } },
  };
  scope.get(`${surface.url}/:id/files`, { schema, config: { access: 'viewer' } }, async (request, reply) => {
    const caller = callerOf(request);
    const { orgId } = caller;
    const runId = runIdOf(request.params);
    const place = places.take(orgId, callerId(caller));
    if (!place.ok) throw overShare('downloads of files', place);
    const left = new AbortController();
    reply.raw.once('close', () => {
      place.leave();
      left.abort();
    });
    const files = await scheduler.files.read({ orgId, runId }, left.signal);
    const told = runShown(request, parts, runId);
    if (told) await told;
    reply
      .header('content-type', TYPE)
      .header('content-disposition', `attachment; filename="${runId}.tar.gz"`)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff');
    return reply.send(files === null ? NO_FILES : Readable.from(files, { objectMode: false }));
  });
}
