// `methods start`: starts a run on the server.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { productionMethodId } from '@methods/base/ids';
import { mediaTypeOf } from '@methods/executor/files/file-value';
import { INPUT_FILE_LIMITS } from '@methods/method/file-limits';
import type { JsonObject } from '@methods/method/json';
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { CommandError, EXIT, UsageError } from '../errors/command-error.ts';
import { START_WORDS } from '../help-words.ts';
import { type GivenFile, givenInputs } from '../local-run/given-inputs.ts';
import { namingValues, RUNS } from '../runs/server-run.ts';
import { watchToRest } from '../runs/show-server-run.ts';
import type { ServerApi } from '../server/server-api.ts';
import { startFrom } from './start-from.ts';

const FILES = '/v1/files';

/** Sends a file for the inputs of a run on the server, and returns its reference. */
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
    // The connection breaks because of it, and would otherwise be blamed.
    throw fault ?? error;
  });
  if (typeof value.file_id === 'string') return { file_id: value.file_id };
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

export const startCommand: Command = {
  ...START_WORDS,

  async run(line, context) {
    const { output, cwd } = context;
    const [word = ''] = line.operands;
    const key = line.text('key');
    if (key !== undefined && (Array.from(key).length < 8 || Array.from(key).length > 200)) {
      throw new UsageError('--key has 8 to 200 characters');
    }
    const version = line.text('version');
    const from = line.text('from');
    if (from !== undefined && (line.flag('wait') || line.texts('inputs').length > 0)) {
      throw new UsageError('--from replaces --inputs, and waits for no run', 'methods runs list --method METHOD');
    }
    const api = await openServer(line, context);
    const { id } = await namedMethod(api, word, cwd);
    const method = productionMethodId(id);
    if (from !== undefined) return startFrom(api, { file: from, method, version, key: key ?? '' }, context);
    const { values: inputs } = await givenInputs(line.texts('inputs'), cwd, INPUT_FILE_LIMITS, (file) =>
      sendFile(api, file),
    );
    const body = {
      method,
      inputs,
      idempotency_key: key ?? randomUUID(),
      ...(version === undefined ? {} : { version }),
    };
    const { value } = await api
      .send<{ run_id: string; status: string }>('POST', RUNS, body, { idempotent: true })
      .catch((error: unknown) => {
        throw namingValues(error);
      });
    if (line.flag('wait')) return watchToRest(api, value.run_id, context);
    output.document(value);
    output.result(value.run_id);
    output.note(`Watch it with:  methods runs watch ${value.run_id}`);
    return EXIT.done;
  },
};
