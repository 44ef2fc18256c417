// The values of `--inputs`: JSON or `@FILE`, and any number of `NAME=@FILE`, each a file for an input of that name.
// Repeating a name makes a list, and a list in the JSON gets the files after its own items. Refusals come before the
// first file is placed.
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { ArchiveRefused, MemberNames } from '@methods/content/member-names';
import { type FileLimits, mebibytes } from '@methods/method/file-limits';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, ownField } from '@methods/method/json';
import type { CommandContext } from '../command/command.ts';
import { CommandError, UsageError } from '../errors/command-error.ts';
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

/**
 * `placed` makes the value of a file in the inputs.
 * @throws UsageError, CommandError `not_found`, `invalid_inputs`, `too_large`.
 */
export async function givenInputs(
  options: readonly string[],
  context: Pick<CommandContext, 'cwd' | 'interrupted'>,
  limits: FileLimits,
  placed: (file: GivenFile, number: number) => JsonObject | Promise<JsonObject>,
): Promise<GivenInputs> {
  const matches = options.map((option) => NAMED_FILE.exec(option));
  const [whole, ...more] = options.filter((_, i) => matches[i] === null);
  if (more.length > 0) throw new UsageError('--inputs takes JSON once', '--inputs JSON --inputs NAME=@FILE');
  const base = whole === undefined ? {} : await readJsonOption('--inputs', whole, context);
  const named = matches.flatMap((match) => (match === null ? [] : [{ name: match[1] ?? '', path: match[2] ?? '' }]));
  if (named.length === 0) return { values: base, files: [] };
  if (!isJsonObject(base)) throw new UsageError('--inputs is not an object', '--inputs \'{"name": "value"}\'');
  for (const { name } of named) refuseTwice(name, ownField(base, name));
  const files = await filesAt(
    named.map(({ path }) => path),
    context.cwd,
    limits,
  );
  const values = new Map<string, JsonObject[]>();
  for (const [number, file] of files.entries()) {
    const { name } = named[number] as (typeof named)[number];
    values.set(name, [...(values.get(name) ?? []), await placed(file, number)]);
  }
  const added = [...values].map(([name, list]) => [name, oneOrList(ownField(base, name), list)] as const);
  return { values: { ...base, ...Object.fromEntries(added) }, files };
}

/** A list takes files after its items; anything else would be lost silently. */
function refuseTwice(name: string, given: JsonValue | undefined): void {
  if (given === undefined || isJsonList(given)) return;
  throw new UsageError(
    `the input ${name} is given twice: by the JSON and by ${name}=@FILE`,
    `leave ${name} out of the JSON, or give it a list there, which takes the files after its items`,
  );
}

/** One file is a list only if the JSON says so, since the type of the input is unknown here. */
function oneOrList(given: JsonValue | undefined, files: readonly JsonObject[]): JsonValue {
  if (given !== undefined && isJsonList(given)) return [...given, ...files];
  return files.length === 1 ? (files[0] as JsonObject) : files;
}

async function filesAt(paths: readonly string[], cwd: string, limits: FileLimits): Promise<GivenFile[]> {
  const { fileBytesMax, filesMax, bytesMax } = limits;
  if (paths.length > filesMax) throw tooLarge(`the inputs name ${paths.length} files; a run takes at most ${filesMax}`);
  const files: GivenFile[] = [];
  for (const path of paths) {
    const file = await fileAt(resolve(cwd, path), path);
    if (file.bytes > fileBytesMax) {
      const most = `a file among the inputs has at most ${mebibytes(fileBytesMax)}`;
      throw tooLarge(`${path} has ${mebibytes(file.bytes)}; ${most}`);
    }
    files.push(file);
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes <= bytesMax) return files;
  throw tooLarge(
    `the files among the inputs have ${mebibytes(bytes)} together; at most ${mebibytes(bytesMax)} are taken`,
  );
}

function tooLarge(message: string): CommandError {
  return new CommandError('too_large', message, {
    hint: 'put large data where the method can fetch it, and give its address',
  });
}

async function fileAt(path: string, given: string): Promise<GivenFile> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError('not_found', `cannot read ${given}: ${reasonOf(error)}`);
  });
  if (!info.isFile()) throw new CommandError('not_found', `${given} is not a file`);
  const name = basename(path);
  refuseName(name, given);
  return { path, name, bytes: info.size };
}

/** A run keeps files under their own names, here and on every worker. */
function refuseName(name: string, given: string): void {
  try {
    new MemberNames(1).add('file', name);
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
    const message = `a run cannot keep the file ${JSON.stringify(given)} under its name: ${error.message}`;
    throw new CommandError('invalid_inputs', message, { hint: 'give the file another name' });
  }
}
