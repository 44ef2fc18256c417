// Keeps sign-ins: in the system's keyring, or where there is none in a file that only its owner can read. Tokens leave
// it only for the requests they are made for.
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { CommandError } from '../errors/command-error.ts';
import { replaceFile } from '../files/write-whole.ts';
import { type KeyringEntry, keyringEntry } from './keyring.ts';

/** A person at one server, signed in by one issuer. */
export interface SignIn {
  readonly server: string;
  readonly issuer: string;
  readonly clientId: string;
  /** The audience its access tokens are for; null: the issuer's own choice. */
  readonly resource: string | null;
  readonly accessToken: string;
  /** null: the issuer gave none, and the sign-in ends with the access token. */
  readonly refreshToken: string | null;
  /** Unix time in ms. */
  readonly expiresAtMs: number;
}

/**
 * What its tokens are for: the commands' own requests, or the MCP audience, which agents use. Each is a sign-in of its
 * own: a refresh token that is used for an audience it was not granted for is ended by the issuer.
 */
export type SignInPurpose = 'commands' | 'agents';

export type SignInPlace = 'keyring' | 'file';

export class SignInStore {
  constructor(
    private readonly config: Pick<Config, 'stateDir' | 'keyring'>,
    private readonly purpose: SignInPurpose = 'commands',
    private readonly openKeyring: (account: string) => KeyringEntry = keyringEntry,
  ) {}

  /** null: there is no sign-in there, or it can no longer be read. */
  async read(issuer: string, server: string): Promise<SignIn | null> {
    const inKeyring = await this.keyring(issuer, server)?.read();
    const text = inKeyring ?? (await readFile(this.file(issuer, server), 'utf8').catch(() => null));
    const kept = text === null ? null : signInOf(text);
    return kept !== null && kept.issuer === issuer && kept.server === server ? kept : null;
  }

  /** @throws CommandError `store_unusable` */
  async write(signIn: SignIn): Promise<SignInPlace> {
    const { issuer, server } = signIn;
    const text = JSON.stringify(signIn);
    const keyring = this.keyring(issuer, server);
    if (keyring !== null && (await keyring.write(text))) {
      await rm(this.file(issuer, server), { force: true });
      return 'keyring';
    }
    try {
      await replaceFile(this.file(issuer, server), `${text}\n`);
    } catch (error) {
      const hint = 'it needs a folder of yours that can be written';
      const message = `the sign-in cannot be kept under ${this.config.stateDir}`;
      throw new CommandError('store_unusable', message, { hint, cause: error });
    }
    // The place that is read first must not hold the older one.
    await keyring?.remove();
    return 'file';
  }

  async remove(issuer: string, server: string): Promise<void> {
    await this.keyring(issuer, server)?.remove();
    await rm(this.file(issuer, server), { force: true });
  }

  /** Held while a sign-in is renewed, in any place. */
  lockFile(issuer: string, server: string): string {
    return `${this.file(issuer, server)}.lock`;
  }

  private keyring(issuer: string, server: string): KeyringEntry | null {
    return this.config.keyring
      ? this.openKeyring(`${issuer} ${server}${this.purpose === 'agents' ? ' mcp' : ''}`)
      : null;
  }

  private file(issuer: string, server: string): string {
    const names = [issuer, server, ...(this.purpose === 'agents' ? ['mcp'] : [])];
    const name = createHash('sha256').update(names.join('\n')).digest('hex').slice(0, 16);
    return join(this.config.stateDir, 'methods', 'sign-ins', `${name}.json`);
  }
}

function signInOf(text: string): SignIn | null {
  try {
    const kept = Object(JSON.parse(text)) as Partial<SignIn>;
    const texts = [kept.server, kept.issuer, kept.clientId, kept.accessToken];
    return texts.every((each) => typeof each === 'string') && typeof kept.expiresAtMs === 'number'
      ? (kept as SignIn)
      : null;
  } catch {
    return null;
  }
}
