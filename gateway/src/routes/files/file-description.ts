// Reads the description of a file from the headers of an upload: its name, its type, its size and the key of the
// upload.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ArchiveRefused, MemberNames } from '@methods/content/member-names';
import { SEALED_MEDIA_TYPE, sealedStreamBytes } from '@methods/content/sealed-stream-shape';
import { INPUT_FILE_LIMITS, mebibytes } from '@methods/method/file-limits';
import { Type } from 'typebox';
import { badHeader, NO_MEDIA_TYPE, tooLarge } from '../../plugins/error-reply.ts';

// The shapes of the routes of files.
export const FileParams = Type.Object({ id: Type.String({ description: 'A file id, file_…' }) });

export const FileHeaders = Type.Object({
  'content-type': Type.Optional(
    Type.String({
      description: `The media type; application/octet-stream unless given. ${SEALED_MEDIA_TYPE}: sealed, for runs in device mode.`,
    }),
  ),
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

const { fileBytesMax } = INPUT_FILE_LIMITS;
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,63}\/[a-z0-9!#$&^_.+-]{1,63}$/;

interface FileDescription {
  readonly name: string;
  readonly mediaType: string;
  /** For the inputs of runs in device mode. */
  readonly isSealed: boolean;
  /** As announced, or the maximum of a file. */
  readonly bytesMax: number;
  readonly idempotencyHash: Uint8Array;
}

/** @throws ServiceError */
export function fileDescription(headers: IncomingHttpHeaders): FileDescription {
  refuseEncoded(headers);
  const mediaType = mediaTypeOf(headers['content-type']);
  const isSealed = mediaType === SEALED_MEDIA_TYPE;
  if (isSealed && headers['x-file-name'] !== undefined) {
    throw badHeader('file_name', 'A sealed file has its name in the inputs, sealed too.');
  }
  return {
    name: nameOf(headers['x-file-name']),
    mediaType,
    isSealed,
    bytesMax: bytesOf(headers, isSealed ? sealedStreamBytes(fileBytesMax) : fileBytesMax),
    idempotencyHash: hashOf(headers['idempotency-key']),
  };
}

/** A name of one part, as a run's folder may hold. */
function nameOf(header: string | string[] | undefined): string {
  if (header === undefined) return 'file';
  let name: string;
  try {
    name = decodeURIComponent(String(header));
  } catch {
    throw badHeader('file_name', 'The header x-file-name has to be percent-encoded as UTF-8.');
  }
  try {
    if (name.includes('/')) throw new ArchiveRefused('a name holds a slash');
    new MemberNames(1).add('file', name);
    return name;
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
    throw badHeader('file_name', `The header x-file-name names no file: ${error.message}.`);
  }
}

function mediaTypeOf(header: string | undefined): string {
  const type = header?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === '') return 'application/octet-stream';
  if (!MEDIA_TYPE.test(type)) throw badHeader('content_type', NO_MEDIA_TYPE);
  return type;
}

function bytesOf(headers: IncomingHttpHeaders, bytesMax: number): number {
  if (headers['transfer-encoding'] !== undefined) return bytesMax;
  const bytes = Number(headers['content-length'] ?? 0);
  if (bytes > bytesMax) throw tooLarge('', 'file_bytes', `A file has at most ${mebibytes(fileBytesMax)}.`);
  return bytes;
}

function hashOf(header: string | string[] | undefined): Uint8Array {
  if (header === undefined) return new Uint8Array(0);
  const key = String(header);
  if (key.length < 8 || key.length > 200) {
    throw badHeader('idempotency_key', 'The header Idempotency-Key has 8 to 200 characters.');
  }
  return createHash('sha256').update(key, 'utf8').digest();
}

// Compressed bytes are not those of the file, and unpacking them here could fill the memory.
function refuseEncoded(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw badHeader('content_encoding', 'A file is sent without a content-encoding.');
  }
  const transfer = headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  if (transfer !== 'chunked') {
    throw badHeader('transfer_encoding', 'A file is sent unencoded: chunked is the only transfer-encoding.');
  }
}
