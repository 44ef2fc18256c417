// Sets one table of a TOML file of MCP servers without changing the rest of the text. The result is parsed again: a
// text in which the table cannot be found by its header, such as an inline table, is not changed.
import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import { isRecord, notChanged } from './server-entry.ts';

/** `text` empty: a new file. @throws CommandError `not_written` for a file that cannot be read, or is written another way. */
export function withTomlServer(text: string, path: readonly [serversKey: string, name: string], entry: object): string {
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

export function tomlServer([serversKey, name]: readonly [string, string], entry: object): string {
  return `${stringify({ [serversKey]: { [name]: entry } }).trim()}\n`;
}

function tomlOf(text: string): Record<string, unknown> {
  try {
    return parse(text);
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
