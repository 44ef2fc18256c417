// POST /v1/files, GET and DELETE /v1/files/:id: files for the inputs of runs. Their bytes are forwarded as they arrive
// and are never whole in this process.
import { type Caller, callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { type FileId, isId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import { SealedValueError } from '@methods/content/device/sealed-value-error';
import { sealedParts } from '@methods/content/sealed-stream-shape';
import { overShare, ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FileOwner } from '../../clients/input-files.ts';
import type { OrganizationSettings } from '../../clients/organization-settings.ts';
import type { RunScheduler } from '../../clients/run-scheduler.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { addBytesBody } from '../../plugins/json-body.ts';
import { fileJson } from '../../views/upload-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { Bytes } from '../uploads/upload-schemas.ts';
import { Deleted, File, FileHeaders, FileParams, fileDescription } from './file-description.ts';

/** Uploads in progress in this process. */
const PLACES = { placesMax: 100, perOrganizationMax: 20, perKeyMax: 10 };
/** The bytes of an upload that takes longer have been removed by then. */
const UPLOAD_MS = 1_800_000;

interface FileRouteParts {
  readonly scheduler: RunScheduler;
  readonly settings: OrganizationSettings;
  readonly clock: Clock;
}

/** For a scope that accepts slow bodies. */
export function addFileRoutes(scope: FastifyInstance, { scheduler, settings, clock }: FileRouteParts): void {
  const files = scheduler.files.sent;
  const places = new Shares(PLACES);
  addBytesBody(scope);
  const tags = ['files'];

  const post = {
    operationId: 'sendFile',
    summary: 'Send a file for the inputs of runs',
    description:
      'The body is the file, at most 100 MiB. The key or person that sent it may name it in inputs for 24 hours; a run that names it keeps it as long as its own data.',
    tags,
    querystring: NoQuery,
    headers: FileHeaders,
    body: { content: { 'application/octet-stream': { schema: Bytes } } },
    response: replies({ 201: File, 200: { ...File, description: 'The same key and file: the first one.' } }),
  };
  const config = { access: 'member' } as const;
  scope.post('/v1/files', { schema: post, config, validatorCompiler: unread }, async (request, reply) => {
    const caller = callerOf(request);
    const owner = ownerOf(caller);
    // The rest of a refused body is not read.
    reply.header('connection', 'close');
    const { isSealed, ...description } = fileDescription(request.headers);
    if (!isSealed && (await settings.of(owner.orgId)).contentOnDevices) throw new ServiceError('device_mode_required');
    const place = places.take(owner.orgId, owner.owner);
    if (!place.ok) throw overShare('uploads of files', place);
    const left = new AbortController();
    const giveUp = clock.after(UPLOAD_MS, () => left.abort());
    reply.raw.once('close', () => {
      place.leave();
      giveUp.cancel();
      left.abort();
    });
    const body = whole((request.body ?? []) as AsyncIterable<Uint8Array>);
    const content = isSealed ? sealedParts('file', body) : body;
    const { file, replayed } = await files.put({ ...owner, ...description }, content, left.signal).catch(asRefusal);
    reply.removeHeader('connection');
    reply.code(replayed ? 200 : 201).header('content-type', JSON_TYPE);
    if (replayed) reply.header('idempotent-replayed', 'true');
    return fileJson(file);
  });

  const one = { tags, params: FileParams, querystring: NoQuery };
  const get = {
    ...one,
    operationId: 'file',
    summary: 'Read the description of a sent file',
    response: replies({ 200: File }),
  };
  scope.get('/v1/files/:id', { schema: get, config: { access: 'viewer' } }, async (request, reply) => {
    const { owner, fileId } = namedIn(request);
    const [file] = await files.find(owner, [fileId]);
    if (file === undefined) throw new ServiceError('not_found');
    reply.header('content-type', JSON_TYPE);
    return fileJson(file);
  });

  const remove = {
    ...one,
    operationId: 'deleteFile',
    summary: 'Delete a file that was sent',
    description: 'No later start may name it. A run that names it keeps it.',
    response: replies({ 204: Deleted }),
  };
  scope.delete('/v1/files/:id', { schema: remove, config: { access: 'member' } }, async (request, reply) => {
    const { owner, fileId } = namedIn(request);
    await files.delete(owner, fileId);
    return reply.code(204).send();
  });
}

// Bodies are streams here, and headers are checked one by one: the schemas only describe them.
const unread = () => () => true;

class BrokenOff extends Error {}

async function* whole(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw new BrokenOff('The body broke off.', { cause: error });
  }
}

function asRefusal(error: unknown): never {
  if (error instanceof ServiceError && error.code !== 'internal') throw error;
  if (error instanceof SealedValueError) throw notSealed();
  if (!(error instanceof BrokenOff)) throw error;
  throw new ServiceError('invalid_request', 'The connection broke off before the body was whole.', { cause: error });
}

function notSealed(): ServiceError {
  const message = 'The body is not a sealed file.';
  const findings = [{ path: '', code: 'sealed_value_damaged', message }];
  return new ServiceError('invalid_request', message, { findings });
}

export function ownerOf(caller: Caller): FileOwner {
  return { orgId: caller.orgId, owner: callerId(caller) };
}

/** @throws ServiceError `not_found` for a malformed file id. */
function namedIn(request: FastifyRequest): { owner: FileOwner; fileId: FileId } {
  const { id } = request.params as { id: string };
  if (!isId('file', id)) throw new ServiceError('not_found');
  return { owner: ownerOf(callerOf(request)), fileId: id };
}
