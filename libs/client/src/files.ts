// Files for inputs of type `file`.
import { randomUUID } from 'node:crypto';
import type { Content, SealingUpload } from './content.ts';
import { InvalidRequestError } from './errors.ts';
import type { Bytes } from './exchange.ts';
import type { RequestOptions, Requests } from './requests.ts';

const OF_ANY_TYPE = 'application/octet-stream';
const SEALED_MEDIA_TYPE = 'application/vnd.methods.sealed';

export interface UploadOptions extends RequestOptions {
  readonly name: string;
  /** Default: `application/octet-stream`. */
  readonly mediaType?: string;
  /** Default: one of its own for each call, kept over its retries. */
  readonly idempotencyKey?: string;
}

type Sent = RequestOptions & Readonly<Record<'name' | 'mediaType' | 'idempotencyKey', string>>;

interface FileFields {
  readonly file_id: string;
  readonly name: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  readonly media_type: string;
  /** From then on no start may name it. Runs that name it keep it. */
  readonly expires_at: string | null;
  readonly content_id?: string;
}

/**
 * A file that the server has. It is a value of inputs as it is: as JSON it is `{"file_id": …}`, and in device mode all of
 * it, which is then sealed with the inputs.
 */
export class SentFile implements FileFields {
  readonly file_id: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly media_type: string;
  readonly expires_at: string | null;
  /** In device mode; the other fields are of the plain file. */
  readonly content_id?: string;

  constructor({ file_id, name, bytes, sha256, media_type, expires_at, content_id }: FileFields) {
    this.file_id = file_id;
    this.name = name;
    this.bytes = bytes;
    this.sha256 = sha256;
    this.media_type = media_type;
    this.expires_at = expires_at;
    if (content_id !== undefined) this.content_id = content_id;
  }

  toJSON(): Pick<FileFields, 'file_id'> & Partial<Omit<FileFields, 'expires_at'>> {
    const { file_id, content_id, name, bytes, sha256, media_type } = this;
    return content_id === undefined ? { file_id } : { file_id, content_id, name, bytes, sha256, media_type };
  }
}

export class Files {
  constructor(
    private readonly requests: Requests,
    private readonly content: Content,
  ) {}

  /** A stream is sent once; bytes and a `Blob` are sent again when a try fails in passing. */
  async upload(bytes: Bytes, { name, mediaType = OF_ANY_TYPE, ...options }: UploadOptions): Promise<SentFile> {
    const { idempotencyKey = randomUUID(), signal } = options;
    checkHeader('mediaType', mediaType);
    checkHeader('idempotencyKey', idempotencyKey);
    if (/\p{Surrogate}/u.test(name)) throw unsendable('name', 'is not text of Unicode');
    const sealed = await this.content.ofFile(idempotencyKey, signal);
    if (sealed !== null) return this.uploadSealed(sealed, bytes, { name, mediaType, idempotencyKey, signal });
    const headers = { 'content-type': mediaType, 'x-file-name': encodeURIComponent(name) };
    return new SentFile(await this.send(bytes, headers, { idempotencyKey, signal }));
  }

  /** The name and the type are sealed with the inputs of the run. */
  private async uploadSealed(
    sealed: SealingUpload,
    bytes: Bytes,
    { name, mediaType, idempotencyKey, signal }: Sent,
  ): Promise<SentFile> {
    const { checkSealedFile } = await import('./sealed-files.ts');
    const plainBytes = bytes instanceof Uint8Array ? bytes.byteLength : bytes instanceof Blob ? bytes.size : undefined;
    checkSealedFile(name, plainBytes);
    const parts = () => (bytes instanceof Uint8Array ? [bytes] : bytes instanceof Blob ? bytes.stream() : bytes);
    const content = plainBytes === undefined ? sealed.sealed(parts()) : () => sealed.sealed(parts());
    const headers = { 'content-type': SEALED_MEDIA_TYPE };
    const sent = await this.send(content, headers, { idempotencyKey, signal }).catch((error: unknown) => {
      throw sealed.fault ?? error;
    });
    const type = mediaType.split(';')[0]?.trim().toLowerCase() ?? OF_ANY_TYPE;
    return new SentFile({ ...sent, ...sealed.reference(sent.file_id, { name, mediaType: type }) });
  }

  private send(
    content: Bytes | (() => Bytes),
    headers: Readonly<Record<string, string>>,
    { idempotencyKey, signal }: Pick<Sent, 'idempotencyKey' | 'signal'>,
  ): Promise<FileFields> {
    const request = { verb: 'POST', path: '/v1/files', content, signal, is: isFile } as const;
    return this.requests.send({ ...request, headers: { ...headers, 'idempotency-key': idempotencyKey } });
  }

  async get(fileId: string, { signal }: RequestOptions = {}): Promise<SentFile> {
    return new SentFile(await this.requests.send({ verb: 'GET', path: filePath(fileId), signal, is: isFile }));
  }

  /** No later start may name it. A run that names it keeps it. */
  async delete(fileId: string, { signal }: RequestOptions = {}): Promise<void> {
    await this.requests.send({ verb: 'DELETE', path: filePath(fileId), signal, is: isNothing });
  }
}

/** `fetch` reports such a text as a failed connection. @throws InvalidRequestError */
function checkHeader(field: 'mediaType' | 'idempotencyKey', text: string): void {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text.trim())) {
    throw unsendable(field, 'holds characters that a header of HTTP does not take');
  }
}

function unsendable(field: string, fault: string): InvalidRequestError {
  const message = `The ${field} of the file ${fault}.`;
  return new InvalidRequestError('invalid_request', message, {
    details: [{ path: `/${field}`, code: field, message }],
  });
}

function filePath(fileId: string): string {
  return `/v1/files/${encodeURIComponent(fileId)}`;
}

function isFile(value: unknown): value is FileFields {
  return typeof (Object(value) as Partial<FileFields>).file_id === 'string';
}

function isNothing(value: unknown): value is null {
  return value === null;
}
