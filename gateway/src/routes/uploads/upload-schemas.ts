// The shapes of the upload routes.
import { Type } from 'typebox';
import { DisplayName, IdempotencyKey, Method } from '../methods/method-schemas.ts';

const Closed = { additionalProperties: false } as const;
const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

export const UploadParams = Type.Object({ id: Type.String({ description: 'An upload id, upl_…' }) });

export const CreateUploadBody = Type.Object(
  {
    idempotency_key: IdempotencyKey,
    display_name: Type.Optional(DisplayName),
    file_name: Type.String({ minLength: 1, maxLength: 255 }),
    content_type: Type.String({ minLength: 1, maxLength: 255 }),
    size: Type.Integer({ minimum: 1, description: 'Bytes; at most 200 MiB.' }),
  },
  {
    ...Closed,
    examples: [
      {
        idempotency_key: 'record-refund-0001',
        file_name: 'refund.har',
        content_type: 'application/json',
        size: 48_213,
      },
    ],
  },
);

const uploadFields = {
  id: Type.String(),
  state: Type.Unsafe<string>({ type: 'string', enum: ['waiting', 'received', 'building', 'ready', 'failed'] }),
  display_name: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  file_name: Type.String(),
  content_type: Type.String(),
  size: Type.Integer({ description: 'Bytes announced.' }),
  offset: Type.Integer({ description: 'Bytes stored.' }),
  created_at: Time,
  expires_at: Time,
};

const Upload = Type.Object(uploadFields);

export const CreatedUpload = Type.Object({
  upload: Type.Object({
    ...uploadFields,
    upload_url: Type.String({ description: 'Where the recording goes by PUT, or by PATCH as in tus 1.0.' }),
    token: Type.String({
      description:
        'Authorization: WorkflowUpload <token>. Shown once; a repeat of the request gives another in its place.',
    }),
  }),
  created: Type.Boolean(),
});

export const UploadReply = Type.Object({
  upload: Upload,
  method: Type.Unsafe<object | null>({ anyOf: [Method, { type: 'null' }] }),
});

export const SentUpload = Type.Object({ upload: Upload });

export const Bytes = { type: 'string', format: 'binary' } as const;

export const PieceHeaders = Type.Object({
  'tus-resumable': Type.String({ description: '1.0.0' }),
  'upload-offset': Type.String({ description: 'Bytes stored so far: the position of this piece.' }),
});

export const Stored = { type: 'null', description: 'Upload-Offset is the number of bytes stored now.' } as const;

export const Told = { type: 'null', description: 'Upload-Offset and Upload-Length are in bytes.' } as const;

export const Versions = { type: 'null', description: 'Tus-Version and Tus-Max-Size.' } as const;
