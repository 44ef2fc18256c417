// Sends a file for the inputs of a run on the server, and gives what names it there.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { mediaTypeOf } from '@methods/executor/folder/media-type';
import type { JsonObject } from '@methods/method/json';
import { CommandError } from '../command/command-error.ts';
import type { GivenFile } from '../local-run/given-inputs.ts';
import type { ServerApi } from '../server/server-api.ts';

const FILES = '/v1/files';

export async function sendFile(api: ServerApi, { path, name, bytes }: GivenFile): Promise<JsonObject> {
  const headers = {
    'content-type': mediaTypeOf(extname(name)),
    'content-length': String(bytes),
    'x-file-name': encodeURIComponent(name),
    'idempotency-key': randomUUID(),
  };
  const open = () => Readable.toWeb(createReadStream(path)) as ReadableStream;
  const { value } = await api.sendContent<{ file_id: string }>(FILES, open, headers);
  if (typeof value.file_id === 'string') return { file_id: value.file_id };
  throw new CommandError('bad_reply', `the server at ${api.baseUrl} gives no id for the file`);
}
