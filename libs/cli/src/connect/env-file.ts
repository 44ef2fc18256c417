// An app's `.env` file: whether it has a key, and the key put into it. The key is never shown.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../command/command-error.ts';
import { writeSecretWhole } from '../link/write-whole.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { envValue, withEnvValue } from './env-text.ts';

export const ENV_FILE = '.env';
export const KEY_VARIABLE = 'SERVICE_API_KEY';

export class EnvFile {
  private readonly path: string;

  constructor(app: string) {
    this.path = join(app, ENV_FILE);
  }

  /** @throws CommandError `not_found`, `not_written` (it is no text). */
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
