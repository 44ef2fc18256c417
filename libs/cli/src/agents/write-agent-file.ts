// Sets this server in the file of an agent's program, JSON or TOML: the rest of its text is kept. A reader sees either
// the old file or the new one.
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { parse as parseToml, stringify } from 'smol-toml';
import { CommandError } from '../errors/command-error.ts';
import { writeWhole } from '../files/write-whole.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { type AgentFile, entryOf, type Way } from './agent-apps.ts';

const FILE_BYTES_MAX = 4 * 1024 * 1024;

export type Written = 'created' | 'changed' | 'unchanged';

/** The part of the file that is about this server. */
export function agentLines(file: AgentFile, name: string, way: Way): string {
  const entry = entryOf(file, way);
  if (file.format === 'toml') return tomlServer([file.serversKey, name], entry);
  return `${JSON.stringify({ [file.serversKey]: { [name]: entry } }, null, 2)}\n`;
}

/** @throws CommandError `not_written`: the file is unchanged. */
export async function writeAgentFile(file: AgentFile, name: string, way: Way): Promise<Written> {
  const { path, format, serversKey } = file;
  const before = await readAgentFile(path);
  const place = [serversKey, name] as const;
  const entry = entryOf(file, way);
  let after: string;
  try {
    after = format === 'toml' ? withTomlServer(before ?? '', place, entry) : withJsonServer(before ?? '', place, entry);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.code, `${path} was not changed: ${error.message}`, {
      hint: 'mend it, or add the lines that are printed without --write by hand',
    });
  }
  if (after === before) return 'unchanged';
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeWhole(path, after);
  } catch (error) {
    throw new CommandError('not_written', `cannot write ${path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
  return before === null ? 'created' : 'changed';
}

/** Null: there is none. */
async function readAgentFile(path: string): Promise<string | null> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new CommandError('not_written', `cannot read ${path}: ${reasonOf(error)}`);
  });
  if (bytes === null) return null;
  if (bytes.length > FILE_BYTES_MAX) throw new CommandError('not_written', `${path} was not changed: it is over 4 MiB`);
  return bytes.toString('utf8');
}

/**
 * Other entries and comments are kept; only the neighbouring entry may be reformatted.
 * `text` empty: a new file. @throws CommandError `not_written` for a file that cannot be read as an object.
 */
function withJsonServer(text: string, path: readonly [serversKey: string, name: string], entry: object): string {
  const errors: ParseError[] = [];
  const whole = text.trim() === '' ? '{}\n' : text;
  // A byte order mark is not part of JSON, and some editors write one.
  const mark = whole.startsWith('\uFEFF') ? '\uFEFF' : '';
  const body = whole.slice(mark.length);
  const root: unknown = parse(body, errors, { allowTrailingComma: true });
  const [fault] = errors;
  if (fault !== undefined) throw notChanged(`line ${lineOf(body, fault.offset)} is not JSON`);
  if (!isRecord(root)) throw notChanged('it is not one object');
  const [serversKey, name] = path;
  const servers = root[serversKey];
  if (servers !== undefined && !isRecord(servers)) throw notChanged(`"${serversKey}" in it is not an object`);
  const edits = modify(body, [serversKey, name], entry, { formattingOptions: layoutOf(body) });
  return mark + applyEdits(body, edits);
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Taken from the first indented line. */
function layoutOf(text: string) {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? [];
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.startsWith('\t') ? 1 : indent.length, eol };
}

/**
 * The result is parsed again: a text in which the table cannot be found by its header, such as an inline table, is not
 * changed.
 * `text` empty: a new file. @throws CommandError `not_written` for a file that cannot be read, or is written another way.
 */
function withTomlServer(text: string, path: readonly [serversKey: string, name: string], entry: object): string {
  const [serversKey, name] = path;
  const before = tomlOf(text);
  const servers = before[serversKey] ?? {};
  if (!isRecord(servers)) throw notChanged(`"${serversKey}" in it is not a table`);
  const block = tomlServer(path, entry);
  const start = servers[name] === undefined ? null : placeOf(text, path);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const added = block.replaceAll('\n', eol);
  const changed =
    start === null ? appended(text, added, eol) : text.slice(0, start.from) + added + text.slice(start.to);
  const wanted = { ...before, [serversKey]: { ...servers, [name]: entry } };
  if (!isDeepStrictEqual(plain(tomlOf(changed)), plain(wanted))) {
    throw notChanged(`"${serversKey}.${name}" in it is written in another way`);
  }
  return changed;
}

function tomlServer([serversKey, name]: readonly [string, string], entry: object): string {
  return `${stringify({ [serversKey]: { [name]: entry } }).trim()}\n`;
}

function tomlOf(text: string): Record<string, unknown> {
  try {
    return parseToml(text);
  } catch (error) {
    const { line } = Object(error);
    throw notChanged(typeof line === 'number' ? `line ${line} is not TOML` : 'it is not TOML');
  }
}

/** From the table's header to the next header, or the end. */
function placeOf(text: string, [serversKey, name]: readonly [string, string]): { from: number; to: number } {
  const headers = [...text.matchAll(/^[ \t]*\[.*$/gm)];
  const own = new RegExp(`^[ \\t]*\\[\\s*${serversKey}\\s*\\.\\s*(?:${name}|"${name}"|'${name}')\\s*\\]`);
  const at = headers.findIndex(([header]) => own.test(header));
  const from = headers[at]?.index;
  if (from === undefined) throw notChanged(`"${serversKey}.${name}" in it is written in another way`);
  const next = headers[at + 1]?.index ?? text.length;
  // Comments and empty lines before the next header belong to it.
  const lines = text.slice(from, next).split(/(?<=\n)/);
  while (/^\s*(#.*)?$/.test(lines.at(-1)?.trimEnd() ?? 'end')) lines.pop();
  return { from, to: from + lines.join('').length };
}

function appended(text: string, block: string, eol: string): string {
  if (text.trim() === '') return block;
  return `${text}${text.endsWith('\n') ? '' : eol}${eol}${block}`;
}

/** Tables without their prototypes, which the parser may or may not add. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `reason`: about the file, which the caller names. */
function notChanged(reason: string): CommandError {
  return new CommandError('not_written', reason);
}
