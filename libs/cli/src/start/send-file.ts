// Sends a file for the inputs of a run on the server, and returns its reference.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { mediaTypeOf } from '@methods/executor/files/file-value';
import type { JsonObject } from '@methods/method/json';
import { CommandError } from '../errors/command-error.ts';
import type { GivenFile } from '../local-run/given-inputs.ts';
import type { ServerApi } from '../server/server-api.ts';

const FILES = '/v1/files';

export async function sendFile(api: ServerApi, file: GivenFile): Promise<JsonObject> {
  const { name, bytes } = file;
  const headers = {
    'content-type': mediaTypeOf(extname(name)),
    'content-length': String(bytes),
    'x-file-name': encodeURIComponent(name),
    'idempotency-key': randomUUID(),
  };
  let fault: unknown;
  const open = () =>
    Readable.toWeb(
      Readable.from(
        contentOf(file, (error) => {
          fault = error;
        }),
      ),
    ) as ReadableStream;
  const { value } = await api.sendContent<{ file_id: string }>(FILES, open, headers).catch((error: unknown) => {
    // The connection breaks over it, and would be blamed.
    throw fault ?? error;
  });
  if (typeof value.file_id === 'string') return { file_id: value.file_id };
  throw new CommandError('bad_reply', `the server at ${api.baseUrl} gives no id for the file`);
}

/** As many bytes as were announced. */
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
