// What `--inputs` gives: JSON or `@FILE`, and any number of `NAME=@FILE`, each a file for an input of that name. The
// same name again makes a list.
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { CommandError, UsageError } from '../command/command-error.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { readJsonOption } from './local-inputs.ts';

export interface GivenFile {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
}

export interface GivenInputs {
  /** Each file is the object that `placed` made for it. */
  readonly values: JsonValue;
  readonly files: readonly GivenFile[];
}

const NAMED_FILE = /^([a-z][a-z0-9_]{0,63})=@(.+)$/s;

/** `placed` makes what stands for a file in the inputs. @throws UsageError, CommandError `not_found`. */
export async function givenInputs(
  options: readonly string[],
  cwd: string,
  placed: (file: GivenFile, number: number) => JsonObject | Promise<JsonObject>,
): Promise<GivenInputs> {
  const named = options.map((option) => NAMED_FILE.exec(option));
  const [whole, ...more] = options.filter((_, i) => named[i] === null);
  if (more.length > 0) throw new UsageError('--inputs takes JSON once', '--inputs JSON --inputs NAME=@FILE');
  const base = whole === undefined ? {} : await readJsonOption('--inputs', whole, cwd);
  const files: GivenFile[] = [];
  const values = new Map<string, JsonObject[]>();
  for (const match of named) {
    if (match === null) continue;
    const [, name = '', path = ''] = match;
    const file = await fileAt(resolve(cwd, path), path);
    values.set(name, [...(values.get(name) ?? []), await placed(file, files.push(file) - 1)]);
  }
  if (values.size === 0) return { values: base, files };
  if (!isJsonObject(base)) throw new UsageError('--inputs is no object', '--inputs \'{"name": "value"}\'');
  const added = [...values].map(([name, list]) => [name, list.length === 1 ? (list[0] as JsonObject) : list] as const);
  return { values: { ...base, ...Object.fromEntries(added) }, files };
}

async function fileAt(path: string, given: string): Promise<GivenFile> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError('not_found', `cannot read ${given}: ${reasonOf(error)}`);
  });
  if (!info.isFile()) throw new CommandError('not_found', `${given} is not a file`);
  return { path, name: basename(path), bytes: info.size };
}
