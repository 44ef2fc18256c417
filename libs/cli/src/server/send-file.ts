// Sends a file for the inputs of a run on a server.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { mediaTypeOf } from '@methods/executor/files/file-value';
import type { JsonObject } from '@methods/method/json';
import { CommandError } from '../errors/command-error.ts';
import type { GivenFile } from '../local-run/given-inputs.ts';
import type { ServerApi } from './server-api.ts';

const FILES = '/v1/files';

export interface FileRequest {
  readonly headers: Record<string, string>;
  /** The bytes that leave, from those of the file. */
  asSent(plain: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/**
 * What identifies the upload: a start that is repeated with its key has to name the file that the first one sent, since
 * another file is another input. A file that changed meanwhile is another one.
 */
export async function uploadFacts(startKey: string, { path, name }: GivenFile): Promise<JsonObject> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path)) hash.update(part as Buffer);
  return { start: startKey, name, sha256: hash.digest('hex') };
}

/** Returns its reference. @throws CommandError `file_changed` and others */
export async function sendFile(api: ServerApi, file: GivenFile, startKey: string): Promise<JsonObject> {
  const { name, bytes } = file;
  const facts = JSON.stringify(await uploadFacts(startKey, file));
  const headers = {
    'content-type': mediaTypeOf(extname(name)),
    'content-length': String(bytes),
    'x-file-name': encodeURIComponent(name),
    'idempotency-key': createHash('sha256').update(facts).digest('base64url'),
  };
  return { file_id: await sendFileContent(api, file, { headers, asSent: (plain) => plain }) };
}

/** Returns the file's id. @throws CommandError `file_changed` and others */
export async function sendFileContent(api: ServerApi, file: GivenFile, request: FileRequest): Promise<string> {
  let fault: unknown;
  const plain = () =>
    contentOf(file, (error) => {
      fault = error;
    });
  const open = () => Readable.toWeb(Readable.from(request.asSent(plain()))) as ReadableStream;
  const { value } = await api.sendContent<{ file_id: string }>(FILES, open, request.headers).catch((error: unknown) => {
    // The connection breaks because of it, and would otherwise be blamed.
    throw fault ?? error;
  });
  if (typeof value.file_id === 'string') return value.file_id;
  throw new CommandError('bad_reply', `the server at ${api.baseUrl} gives no id for the file`);
}

/** Yields exactly as many bytes as announced. */
async function* contentOf({ path, name, bytes }: GivenFile, failed: (error: unknown) => void): AsyncGenerator<Buffer> {
  try {
    let read = 0;
    for await (const part of createReadStream(path)) {
      read += (part as Buffer).length;
      if (read > bytes) break;
      yield part as Buffer;
    }
    if (read !== bytes) throw new CommandError('file_changed', `${name} changed while it was sent`);
  } catch (error) {
    failed(error);
    throw error;
  }
}
