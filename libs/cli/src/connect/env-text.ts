// A variable in the text of a `.env` file, as dotenv, Node and shells read it. Everything else stays byte by byte:
// comments, quotes, line ends. Texts are latin1.
import { withLine } from './line-ends.ts';

/** An assignment; a quoted value may have several lines, and no assignment is read within it. */
const ASSIGNMENT =
  /^(?<head>(?:\u00ef\u00bb\u00bf)?[ \t]*(?:export[ \t]+)?(?<name>[\w.-]+)[ \t]*=)(?<value>[ \t]*(?:'(?:\\'|[^'])*'|"(?:\\"|[^"])*"|`(?:\\`|[^`])*`)|[^\r\n]*)/gm;

/** Empty where it is not set, or set to nothing; the last one counts. */
export function envValue(text: string, name: string): string {
  const values = [...text.matchAll(ASSIGNMENT)].filter((found) => found.groups?.name === name);
  return unquoted(values.at(-1)?.groups?.value ?? '');
}

/** `value` needs no quotes. A variable that is already there keeps its place with the new value. */
export function withEnvValue(text: string, name: string, value: string): string {
  let found = false;
  const changed = text.replace(ASSIGNMENT, (whole, ...rest) => {
    const groups = rest.at(-1) as { head: string; name: string; value: string };
    if (groups.name !== name) return whole;
    found = true;
    return `${groups.head}${value}${commentOf(groups.value)}`;
  });
  return found ? changed : withLine(text, `${name}=${value}`);
}

function unquoted(value: string): string {
  const quoted = /^[ \t]*(['"`])([\s\S]*)\1$/.exec(value);
  return quoted?.[2] ?? value.replace(/(^|[ \t])#.*$/, '').trim();
}

/** A comment after a value without quotes; after one with quotes it is not part of the value. */
function commentOf(value: string): string {
  if (/^[ \t]*['"`]/.test(value)) return '';
  return /[ \t]+#.*$/.exec(value)?.[0] ?? (/^#/.test(value) ? ` ${value}` : '');
}
