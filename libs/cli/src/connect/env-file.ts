// An app's `.env` file: checks whether it has a key, and writes one. The key is never shown.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../errors/command-error.ts';
import { writeSecretWhole } from '../files/write-whole.ts';
import { reasonOf } from '../method-file/method-file.ts';

export const ENV_FILE = '.env';
export const KEY_VARIABLE = 'SERVICE_API_KEY';

export class EnvFile {
  private readonly path: string;

  constructor(app: string) {
    this.path = join(app, ENV_FILE);
  }

  /** @throws CommandError `not_found`, `not_written` (it is not text). */
  async hasKey(): Promise<boolean> {
    return envValue((await this.text()) ?? '', KEY_VARIABLE) !== '';
  }

  /** A new file is readable only by its owner. @throws CommandError `not_written`. */
  async setKey(key: string): Promise<'created' | 'changed'> {
    const text = await this.text();
    const changed = withEnvValue(text ?? '', KEY_VARIABLE, key);
    await writeSecretWhole(this.path, Buffer.from(changed, 'latin1')).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError('not_written', `cannot write ${this.path}: ${reasonOf(error)}`);
    });
    return text === null ? 'created' : 'changed';
  }

  private async text(): Promise<string | null> {
    const bytes = await readFile(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw new CommandError('not_found', `cannot read ${this.path}: ${reasonOf(error)}`);
    });
    if (bytes?.includes(0)) throw new CommandError('not_written', `${this.path} is not UTF-8 and was not changed`);
    return bytes?.toString('latin1') ?? null;
  }
}

/** Matches an assignment; a quoted value may have several lines, and assignments within it are ignored. */
const ASSIGNMENT =
  /^(?<head>(?:\u00ef\u00bb\u00bf)?[ \t]*(?:export[ \t]+)?(?<name>[\w.-]+)[ \t]*=)(?<value>[ \t]*(?:'(?:\\'|[^'])*'|"(?:\\"|[^"])*"|`(?:\\`|[^`])*`)|[^\r\n]*)/gm;

/** Empty if it is not set, or set to nothing; the last one counts. */
export function envValue(text: string, name: string): string {
  const values = [...text.matchAll(ASSIGNMENT)].filter((found) => found.groups?.name === name);
  return unquoted(values.at(-1)?.groups?.value ?? '');
}

/** `value` needs no quotes. An existing variable keeps its place and gets the new value. */
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

/** A comment after an unquoted value; after a quoted one it is not part of the value. */
function commentOf(value: string): string {
  if (/^[ \t]*['"`]/.test(value)) return '';
  return /[ \t]+#.*$/.exec(value)?.[0] ?? (/^#/.test(value) ? ` ${value}` : '');
}

/** The text with the line as its last one, each ended as the text ends its lines. latin1, so that every byte is kept. */
export function withLine(text: string, line: string): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const before = text === '' || text.endsWith('\n') ? text : `${text}${end}`;
  return `${before}${line}${end}`;
}
