// POST /api/workflow-uploads creates the link to which a recording is sent; GET returns its state.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { newOpaqueToken, opaqueTokenSha256 } from '@methods/auth/opaque-token';
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import type { RegistryCalls } from '../../clients/registry-calls.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { methodView } from '../../views/method-view.ts';
import { uploadView } from '../../views/upload-view.ts';
import { keyHash } from '../methods/method-parts.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { CreatedUpload, CreateUploadBody, UploadParams, UploadReply } from './upload-schemas.ts';

export interface UploadRouteParts {
  readonly registryCalls: RegistryCalls;
  /** Null: links are returned without the server's address. */
  readonly publicUrl: string | null;
}

export function addUploadLinks(scope: FastifyInstance, { registryCalls, publicUrl }: UploadRouteParts): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { uploads } = registryCalls;

  const create = {
    operationId: 'createUpload',
    summary: 'Make a link to upload a recording with',
    tags: ['uploads'],
    body: CreateUploadBody,
    querystring: NoQuery,
    response: replies({
      201: CreatedUpload,
      200: { ...CreatedUpload, description: 'The key is known: its upload, with a fresh token.' },
    }),
  };
  typed.post('/api/workflow-uploads', { schema: create, config: { access: 'member' } }, async (request, reply) => {
    const { body } = request;
    const token = newOpaqueToken();
    const { upload, created } = await uploads.createUpload({
      orgId: callerOf(request).orgId,
      idempotencyHash: keyHash(body.idempotency_key),
      displayName: body.display_name ?? '',
      fileName: body.file_name,
      contentType: body.content_type,
      sizeBytes: body.size,
      tokenSha256: opaqueTokenSha256(token),
      doer: doerOf(request),
    });
    const view = uploadView(upload);
    const link = { upload_url: `${publicUrl ?? ''}/api/workflow-uploads/${view.id}/content`, token };
    reply
      .code(created ? 201 : 200)
      .header('content-type', JSON_TYPE)
      .header('cache-control', 'no-store');
    return JSON.stringify({ upload: { ...view, ...link }, created });
  });

  const read = {
    operationId: 'getUpload',
    summary: 'Read the state of an upload',
    tags: ['uploads'],
    params: UploadParams,
    querystring: NoQuery,
    response: replies({ 200: UploadReply }),
  };
  typed.get('/api/workflow-uploads/:id', { schema: read, config: { access: 'viewer' } }, async (request, reply) => {
    const { id: uploadId } = request.params;
    if (!isId('upl', uploadId)) throw new ServiceError('not_found', 'There is no such upload.');
    const { upload } = await uploads.getUpload({ orgId: callerOf(request).orgId, uploadId });
    reply.header('content-type', JSON_TYPE);
    const method = upload?.method ? methodView(upload.method) : null;
    return JSON.stringify({ upload: uploadView(upload), method });
  });
}
