// The service key on this machine: in the environment, or in `.env` of the working folder. Its content part opens and
// seals runs in device mode.
import { open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { parseBearerKey } from '@methods/auth/service-key';
import type { CommandContext } from '../command/command.ts';
import { CommandError } from '../errors/command-error.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { RUNS } from '../server/run-calls.ts';
import type { ServerApi } from '../server/server-api.ts';

const VARIABLE = 'SERVICE_API_KEY';
const ENV_FILE = '.env';
const FILE_BYTES_MAX = 256 * 1024;

export interface LocalKey {
  readonly authPart: string;
  readonly contentPart: string;
  /** Where it is, for people. */
  readonly place: string;
}

type Surroundings = Pick<CommandContext, 'config' | 'cwd'>;

/**
 * Null: there is none. A `.env` that names another server in METHODS_SERVER has none for this one.
 * @throws CommandError `invalid_key`; `not_a_whole_key` for an auth part
 */
export async function localKey({ config, cwd }: Surroundings, server: string): Promise<LocalKey | null> {
  if (config.serviceKey !== null) return wholeKey(config.serviceKey, VARIABLE);
  const text = await textOf(join(cwd, ENV_FILE)).catch(() => '');
  const { [VARIABLE]: key = '', METHODS_SERVER: named = '' } = parseEnv(text);
  if (key === '' || (named !== '' && named.replace(/\/+$/, '') !== server)) return null;
  return wholeKey(key, `${VARIABLE} of ${ENV_FILE}`);
}

/** The service key on this machine for a server; a local stack is used with its own. @throws CommandError as `localKey` */
export async function keyFor(api: ServerApi, surroundings: Surroundings): Promise<LocalKey | null> {
  const here = await localKey(surroundings, api.baseUrl);
  const contentPart = api.contentPart(RUNS);
  if (here !== null || contentPart === undefined) return here;
  const authPart = await api.bearer(RUNS);
  return authPart === null ? null : { authPart, contentPart, place: 'the key of the local stack' };
}

/** Of a file that has the key only, or beside other variables. @throws CommandError */
export async function keyOfFile(file: string, cwd: string): Promise<LocalKey> {
  const text = await textOf(resolve(cwd, file)).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError('not_found', `cannot read ${file}: ${reasonOf(error)}`);
  });
  const named = parseEnv(text)[VARIABLE];
  return wholeKey(named === undefined || named === '' ? text : named, file);
}

function wholeKey(text: string, place: string): LocalKey {
  const key = parseBearerKey(text.trim());
  if (key === null) {
    const hint = 'copy it again, whole: sk_, 43 letters and digits, _, and 49 more';
    throw new CommandError('invalid_key', `${place} is not a service key`, { hint });
  }
  const { authPart, contentPart } = key;
  if (contentPart === undefined) {
    const hint = 'the whole key is where the app runs: sk_, 43 letters and digits, _, and 49 more';
    throw new CommandError('not_a_whole_key', `${place} is a key without its content part, which opens runs`, { hint });
  }
  return { authPart, contentPart, place };
}

async function textOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(FILE_BYTES_MAX), 0, FILE_BYTES_MAX, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
