// Stores sign-ins: in the system's keyring, or without one in a file that only its owner can read. Tokens are used only
// for the requests they are made for.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config.ts';
import { CommandError } from '../errors/command-error.ts';
import { replaceFile } from '../files/write-whole.ts';

/** A person at one server, signed in by one issuer. */
export interface SignIn {
  readonly server: string;
  readonly issuer: string;
  readonly clientId: string;
  /** The audience of its access tokens; null: the issuer's own choice. */
  readonly resource: string | null;
  readonly accessToken: string;
  /** null: the issuer issued none, and the sign-in ends with the access token. */
  readonly refreshToken: string | null;
  /** Unix time in ms. */
  readonly expiresAtMs: number;
}

/**
 * The purpose of its tokens: the commands' own requests, or the MCP audience, which agents use. Each is a separate
 * sign-in: the issuer ends a refresh token that is used for an audience it was not granted for.
 */
export type SignInPurpose = 'commands' | 'agents';

type SignInPlace = 'keyring' | 'file';

export class SignInStore {
  constructor(
    private readonly config: Pick<Config, 'stateDir' | 'keyring'>,
    private readonly purpose: SignInPurpose = 'commands',
    private readonly openKeyring: (account: string) => KeyringEntry = keyringEntry,
  ) {}

  /** null: there is no sign-in, or it can no longer be read. */
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
    // The place that is read first must not keep the older one.
    await keyring?.remove();
    return 'file';
  }

  async remove(issuer: string, server: string): Promise<void> {
    await this.keyring(issuer, server)?.remove();
    await rm(this.file(issuer, server), { force: true });
  }

  /** Held while a sign-in is renewed, in either place. */
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

const PROCESS = fileURLToPath(new URL('./keyring-process.js', import.meta.url));
/** A bus without a keyring behind it never answers. */
const OPEN_MS = 5_000;
/** A locked keyring prompts its user; one that never answers counts as missing. */
const ANSWER_MS = 60_000;

/** The keyring of the system, where it has one: macOS, Windows, and a Linux desktop with a secret service. */
interface KeyringEntry {
  /** null: nothing is kept there. */
  read(): Promise<string | null>;
  /** Returns false if the keyring rejects it, for example because it is too long. */
  write(text: string): Promise<boolean>;
  remove(): Promise<void>;
}

/** For this process: a keyring that did not answer is not awaited again. */
let silent = false;

/** An error of the keyring counts as no keyring: the file is used. */
function keyringEntry(account: string): KeyringEntry {
  return {
    read: async () => {
      const text = await done({ action: 'read', account });
      return typeof text === 'string' ? text : null;
    },
    write: async (text) => (await done({ action: 'write', account, text })) !== undefined,
    remove: async () => {
      await done({ action: 'remove', account });
    },
  };
}

interface Work {
  readonly action: 'read' | 'write' | 'remove';
  readonly account: string;
  readonly text?: string;
}

/** Returns the outcome; undefined: there is none. */
async function done(work: Work): Promise<unknown> {
  if (silent) return undefined;
  const child = spawn(process.execPath, [PROCESS], { stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
  // The only way to end a process that waits for the bus.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let timer = setTimeout(tooLate, OPEN_MS);
  function tooLate(): void {
    silent = true;
    kill();
  }
  try {
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (lines.push(line) > 1) return;
      clearTimeout(timer);
      timer = setTimeout(tooLate, ANSWER_MS);
    });
    // It may have ended before it got its input.
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(work));
    const code = await new Promise<number | null>((resolve) => {
      child.on('error', () => resolve(null));
      child.on('close', resolve);
    });
    return code === 0 && lines[1] !== undefined ? (JSON.parse(lines[1]) as unknown) : undefined;
  } finally {
    clearTimeout(timer);
    process.off('exit', kill);
  }
}
