// GET …/runs/:id/files: sends the files that the steps of a run have saved as one archive, or one file of its steps or
// inputs by the path that file values name.
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { isId, type OrgId, type RunId } from '@methods/base/ids';
import { type ArchiveMember, memberOf } from '@methods/content/archive-member';
import { ArchiveRefused, MemberNames } from '@methods/content/member-names';
import { SEALED_MEDIA_TYPE } from '@methods/content/sealed-stream-shape';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { Bytes } from '../uploads/upload-schemas.ts';
import { asDownload } from './downloads.ts';
import { describedRun, type RunSurface, runShown } from './run-acts.ts';
import { type RunRouteParts, runIdOf } from './run-reply.ts';
import { RunFileParams, RunParams } from './run-schemas.ts';

const ARCHIVE = 'application/gzip';
const FILE = 'application/octet-stream';
/** Two empty blocks end a tar. */
const NO_FILES = gzipSync(Buffer.alloc(1_024));
const OF_STEP = /^steps\/.+\/files\//;
const OF_INPUT = /^inputs\/(file_[0-9a-z]{26})\/([^/]+)$/;

export function addRunFiles(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const { scheduler, downloads } = parts;
  const archive = { description: 'A gzip tar, empty if the run has saved no files.' };
  const all = {
    ...describedRun(surface, 'runFiles', 'Read the files of a run'),
    description:
      'The files its steps have saved so far, under the paths that file values name (steps/<step>/files/<name>), as long as the run is kept. The files of its inputs are not included. In device mode the archive is sealed; it is empty if there are no files.',
    params: RunParams,
    querystring: NoQuery,
    response: {
      ...replies({}),
      200: { ...archive, content: { [ARCHIVE]: { schema: Bytes }, [SEALED_MEDIA_TYPE]: { schema: Bytes } } },
    },
  };
  scope.get(`${surface.url}/:id/files`, { schema: all, config: { access: 'viewer' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const runId = runIdOf(request.params);
    const left = downloads.begin(request, reply);
    const files = await scheduler.files.read({ orgId, runId }, left);
    const told = runShown(request, parts, runId);
    if (told) await told;
    const isSealed = files?.isSealed === true;
    asDownload(reply, isSealed ? SEALED_MEDIA_TYPE : ARCHIVE, `${runId}${isSealed ? '.sealed' : '.tar.gz'}`);
    return reply.send(
      files === null ? NO_FILES : Readable.from(downloads.pace.paced(orgId, files.content), { objectMode: false }),
    );
  });

  const one = {
    ...describedRun(surface, 'runFile', 'Read one file of a run'),
    description:
      'A file that a step has saved, or that the inputs name, by the path of its file value (steps/<step>/files/<name>, inputs/<file id>/<name>): to be saved, never shown, regardless of its type.',
    params: RunFileParams,
    querystring: NoQuery,
    response: { ...replies({}), 200: { description: 'The file.', content: { [FILE]: { schema: Bytes } } } },
  };
  scope.get(`${surface.url}/:id/files/*`, { schema: one, config: { access: 'viewer' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const runId = runIdOf(request.params);
    const path = pathOf(request.params);
    const left = downloads.begin(request, reply);
    const { bytes, content } = await fileOf(parts, { orgId, runId }, path, left);
    const told = runShown(request, parts, runId);
    if (told) await told;
    asDownload(reply, FILE, path.slice(path.lastIndexOf('/') + 1)).header('content-length', bytes);
    return reply.send(Readable.from(content, { objectMode: false }));
  });
}

/** @throws ServiceError `not_found` for a path that no file of a run can have, before anything is read. */
function pathOf(params: unknown): string {
  const path = (params as { '*': string })['*'];
  try {
    new MemberNames(path.length).add('file', path);
  } catch (error) {
    if (error instanceof ArchiveRefused) throw noFile();
    throw error;
  }
  if (!OF_STEP.test(path) && !OF_INPUT.test(path)) throw noFile();
  return path;
}

/** @throws ServiceError */
async function fileOf(
  { scheduler: { files }, downloads: { pace } }: RunRouteParts,
  run: { orgId: OrgId; runId: RunId },
  path: string,
  left: AbortSignal,
): Promise<ArchiveMember> {
  const [, fileId, name] = OF_INPUT.exec(path) ?? [];
  if (fileId !== undefined && isId('file', fileId)) {
    const { file, content } = await files.readInput({ ...run, fileId }, left);
    if (file.name !== name) throw noFile();
    return { bytes: file.bytes, content: pace.paced(run.orgId, content) };
  }
  const archive = await files.read(run, left);
  if (archive?.isSealed) {
    await archive.content[Symbol.asyncIterator]().return?.();
    throw new ServiceError('device_mode_required', 'Only a program with the content key opens the files of this run.');
  }
  const member =
    archive &&
    (await memberOf(archive.content, path, undefined, (bytes) => pace.took(run.orgId, bytes)).catch(asMissing));
  if (member === null) throw noFile();
  return member;
}

/** Workers pack the archives: a damaged one is not our error, and contains no file to return. */
function asMissing(error: unknown): null {
  if (error instanceof ArchiveRefused) return null;
  throw error;
}

function noFile(): ServiceError {
  return new ServiceError('not_found', 'The run has no file at this path.');
}
