// The shapes of the routes of files.
import { Type } from 'typebox';

export const FileParams = Type.Object({ id: Type.String({ description: 'A file id, file_…' }) });

export const FileHeaders = Type.Object({
  'content-type': Type.Optional(Type.String({ description: 'The media type; application/octet-stream unless given.' })),
  'x-file-name': Type.Optional(
    Type.String({ description: 'The name without folders, percent-encoded as UTF-8; "file" unless given.' }),
  ),
  'idempotency-key': Type.Optional(
    Type.String({ description: '8 to 200 characters. The same key and file again return the first one (200).' }),
  ),
});

export const File = Type.Object({
  file_id: Type.String({ description: 'file_…, to be named in inputs as {"file_id": "file_…"}.' }),
  name: Type.String(),
  bytes: Type.Integer(),
  sha256: Type.String({ description: 'Hex.' }),
  media_type: Type.String(),
  expires_at: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'From then on no start may name it. Runs that name it keep it.',
  }),
});

export const Deleted = { type: 'null', description: 'Deleted.' } as const;
