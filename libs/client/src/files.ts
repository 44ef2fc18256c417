// Files for inputs of type `file`.
import { randomUUID } from 'node:crypto';
import type { Content } from './content.ts';
import type { Bytes } from './exchange.ts';
import type { RequestOptions, Requests } from './requests.ts';

export interface UploadOptions extends RequestOptions {
  readonly name: string;
  /** Default: `application/octet-stream`. */
  readonly mediaType?: string;
  /** Default: one of its own for each call, kept over its retries. */
  readonly idempotencyKey?: string;
}

interface FileFields {
  readonly file_id: string;
  readonly name: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  readonly media_type: string;
  /** From then on no start may name it. Runs that name it keep it. */
  readonly expires_at: string | null;
}

/** A file that the server has. It is a value of inputs as it is: as JSON it is `{"file_id": …}`. */
export class SentFile implements FileFields {
  readonly file_id: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly media_type: string;
  readonly expires_at: string | null;

  constructor({ file_id, name, bytes, sha256, media_type, expires_at }: FileFields) {
    this.file_id = file_id;
    this.name = name;
    this.bytes = bytes;
    this.sha256 = sha256;
    this.media_type = media_type;
    this.expires_at = expires_at;
  }

  toJSON(): { readonly file_id: string } {
    return { file_id: this.file_id };
  }
}

export class Files {
  constructor(
    private readonly requests: Requests,
    private readonly content: Content,
  ) {}

  /** A stream is sent once; bytes and a `Blob` are sent again when a try fails in passing. */
  async upload(bytes: Bytes, { name, mediaType, idempotencyKey, signal }: UploadOptions): Promise<SentFile> {
    await this.content.refuseFiles(signal);
    const headers = {
      'content-type': mediaType ?? 'application/octet-stream',
      'x-file-name': encodeURIComponent(name),
      'idempotency-key': idempotencyKey ?? randomUUID(),
    };
    return new SentFile(
      await this.requests.send({ verb: 'POST', path: '/v1/files', content: bytes, headers, signal, is: isFile }),
    );
  }

  async get(fileId: string, { signal }: RequestOptions = {}): Promise<SentFile> {
    return new SentFile(await this.requests.send({ verb: 'GET', path: filePath(fileId), signal, is: isFile }));
  }

  /** No later start may name it. A run that names it keeps it. */
  async delete(fileId: string, { signal }: RequestOptions = {}): Promise<void> {
    await this.requests.send({ verb: 'DELETE', path: filePath(fileId), signal, is: isNothing });
  }
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
