// Sets one entry of a JSON file of MCP servers in its text: other entries and comments are kept. Only the neighbouring
// entry may be reformatted.
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { isRecord, notChanged } from './server-entry.ts';

/** `text` empty: a new file. @throws CommandError `not_written` for a file that cannot be read as an object. */
export function withJsonServer(text: string, path: readonly [serversKey: string, name: string], entry: object): string {
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
