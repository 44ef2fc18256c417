// The content of an upload, sent with the token of its link: whole by PUT, or in pieces as tus 1.0 defines
// (https://tus.io/protocols/resumable-upload), by HEAD, PATCH and OPTIONS.
import type { IncomingMessage } from 'node:http';
import type { UploadId } from '@methods/base/ids';
import { errorBody } from '@methods/errors/error-body';
import { ServiceError } from '@methods/errors/service-error';
import type { Upload } from '@methods/proto/registry/v1/upload_service_pb';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { addBytesBody } from '../../plugins/json-body.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { uploadView } from '../../views/upload-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import type { UploadRouteParts } from './links.ts';
import { beyondSize, receiveRecording } from './receive-recording.ts';
import { Bytes, PieceHeaders, SentUpload, Stored, Told, UploadParams, Versions } from './upload-schemas.ts';

const URL = '/api/workflow-uploads/:id/content';
const TUS_VERSION = '1.0.0';
const PATCH_TYPE = 'application/offset+octet-stream';
const RECORDING_BYTES_MAX = 200 * 1024 * 1024;

/** For the scope `upload`. Its bodies are bytes, of any content type, and are never read whole. */
export function addUploadContent(scope: FastifyInstance, { registryCalls }: UploadRouteParts): void {
  const { uploads } = registryCalls;
  addBytesBody(scope);
  addUploadRefusals(scope);
  const common = { tags: ['uploads'], params: UploadParams, querystring: NoQuery };

  async function uploadOf(request: FastifyRequest): Promise<Upload> {
    const { id: uploadId } = request.params as { id: UploadId };
    const { upload } = await uploads.getUpload({ orgId: callerOf(request).orgId, uploadId });
    if (upload === undefined) throw new ServiceError('internal');
    return upload;
  }

  async function receive(request: FastifyRequest, upload: Upload, offset: number): Promise<Upload> {
    refuseEncoded(request);
    const announced = announcedBytes(request);
    if (announced !== null && offset + announced > upload.sizeBytes) throw beyondSize(upload.sizeBytes);
    const body = (request.body ?? []) as IncomingMessage;
    return await receiveRecording(uploads, { upload, offset, body, doer: doerOf(request) });
  }

  const put = {
    ...common,
    operationId: 'putUploadContent',
    summary: 'Send a recording whole',
    body: { content: { 'application/octet-stream': { schema: Bytes } } },
    response: replies({ 201: SentUpload }),
  };
  scope.put(URL, { schema: put, validatorCompiler: unread }, async (request, reply) => {
    const upload = await uploadOf(request);
    const announced = announcedBytes(request);
    // Less than the whole is refused before any of it is stored: it is not the announced recording.
    if (announced !== null && announced < upload.sizeBytes) throw notWhole(announced, upload.sizeBytes);
    const received = await receive(request, upload, 0);
    if (received.offsetBytes < upload.sizeBytes) throw notWhole(received.offsetBytes, upload.sizeBytes);
    reply.code(201).header('content-type', JSON_TYPE);
    return JSON.stringify({ upload: uploadView(received) });
  });

  const head = {
    ...common,
    operationId: 'uploadContent',
    summary: 'Read how many bytes are stored (Upload-Offset)',
    response: replies({ 200: Told }),
    security: [{ uploadToken: [] }],
  };
  scope.head(URL, { schema: head }, async (request, reply) => {
    speakTus(request, reply, { needed: false });
    const { offsetBytes, sizeBytes } = await uploadOf(request);
    reply.header('upload-offset', offsetBytes).header('upload-length', sizeBytes).header('cache-control', 'no-store');
    return reply.send();
  });

  const patch = {
    ...common,
    operationId: 'patchUploadContent',
    summary: 'Send the bytes from Upload-Offset on',
    headers: PieceHeaders,
    body: { content: { [PATCH_TYPE]: { schema: Bytes } } },
    response: replies({ 204: Stored }),
  };
  scope.patch(URL, { schema: patch, validatorCompiler: unread }, async (request, reply) => {
    speakTus(request, reply, { needed: true });
    if (request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() !== PATCH_TYPE) {
      throw new UploadRefusal(415, `The content-type has to be ${PATCH_TYPE}.`);
    }
    const offset = offsetOf(request);
    const upload = await uploadOf(request);
    if (offset !== upload.offsetBytes) {
      throw new UploadRefusal(409, `${upload.offsetBytes} bytes are stored; the next piece begins there.`);
    }
    const { offsetBytes } = await receive(request, upload, offset);
    return reply.code(204).header('upload-offset', offsetBytes).send();
  });

  const options = {
    ...common,
    operationId: 'describeUploads',
    summary: 'Read which tus this server speaks',
    response: replies({ 204: Versions }),
  };
  scope.options(URL, { schema: options }, async (_request, reply) => {
    reply.header('tus-resumable', TUS_VERSION).header('tus-version', TUS_VERSION);
    return reply.code(204).header('tus-max-size', RECORDING_BYTES_MAX).send();
  });
}

// Bodies are streams here, and headers are checked by the rules of tus: the schemas only describe them.
const unread = () => () => true;

function speakTus(request: FastifyRequest, reply: FastifyReply, { needed }: { needed: boolean }): void {
  reply.header('tus-resumable', TUS_VERSION);
  const asked = request.headers['tus-resumable'];
  if (asked === TUS_VERSION || (asked === undefined && !needed)) return;
  throw new UploadRefusal(412, `This server speaks tus ${TUS_VERSION}.`, { 'tus-version': TUS_VERSION });
}

function offsetOf({ headers }: FastifyRequest): number {
  const text = headers['upload-offset'];
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text);
  throw new ServiceError('invalid_request', 'The header Upload-Offset has to be a number of bytes.');
}

// Compressed bytes are not those that were announced, and unpacking them here could fill the memory.
function refuseEncoded({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return;
  throw new UploadRefusal(415, 'A recording is sent without a content-encoding.');
}

/** Null: the body comes in chunks, and its size is known at its end. */
function announcedBytes({ headers }: FastifyRequest): number | null {
  if (headers['transfer-encoding'] !== undefined) return null;
  return Number(headers['content-length'] ?? 0);
}

function notWhole(bytes: number, sizeBytes: number): ServiceError {
  const message = `The recording was announced with ${sizeBytes} bytes; these are ${bytes}.`;
  return new ServiceError('invalid_request', message, { findings: [{ path: '', code: 'upload_size', message }] });
}

// Refusals of an upload that have their own status in tus 1.0 or HTTP, but no code among our errors.

/** 409: other bytes are stored. 412: another version of tus. 415: the bytes are encoded. */
class UploadRefusal extends ServiceError {
  constructor(
    readonly status: 409 | 412 | 415,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super('invalid_request', message);
  }
}

/** Routes of `scope` may throw them; other errors are replied as usual. */
function addUploadRefusals(scope: FastifyInstance): void {
  scope.setErrorHandler((error, request, reply) => {
    if (!(error instanceof UploadRefusal)) throw error;
    request.errorCode = error.code;
    reply.code(error.status).headers(error.headers).header('content-type', JSON_TYPE);
    return JSON.stringify(errorBody(error, request.id).body);
  });
}
