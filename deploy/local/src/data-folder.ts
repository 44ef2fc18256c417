// The folder in which a stack keeps everything: one stack at a time, with secrets readable only by its owner.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { authSha256, createServiceKey, type NewServiceKey } from '@methods/auth/service-key';
import { tryLockFile } from '@methods/base/lock-file';
import { isRunning } from '@methods/base/running-process';
import { StackError } from './embedded/stack-error.ts';

/** Marks a folder as ours, so that --reset never empties a home folder. */
const MARK = 'methods-stack.json';
const LOCK = 'stack.lock';
/** In the command line of every running stack, also of earlier builds. */
const MAIN = /\bdeploy[/.]local[/.]src[/.]main\./;

export interface StackSecrets {
  /** Base64 of 32 bytes: the key that seals webhook secrets. */
  readonly secretsKey: string;
  /** Base64 of 32 bytes: the key from which answer links are derived. */
  readonly linkKey: string;
  /** Base64 of 32 bytes: the key that signs what MCP clients keep, the same at all gateways. */
  readonly mcpStateKey: string;
  readonly key: Pick<NewServiceKey, 'key' | 'authPart'>;
  readonly authSha256: Buffer;
  /** Known once the registry has created the key. */
  webhookSecret: string | null;
}

export class DataFolder {
  private constructor(
    readonly path: string,
    readonly secrets: StackSecrets,
    readonly release: () => void,
  ) {}

  /** @throws StackError with one sentence; the folder is then unchanged. */
  static open(path: string, reset: boolean): DataFolder {
    let release: (() => void) | null = null;
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      release = takeLock(path);
      refuseForeign(path, reset);
      if (reset) empty(path);
      writeFileSync(join(path, MARK), '{"kind":"methods local stack"}\n');
      return new DataFolder(path, readSecrets(path), release);
    } catch (error) {
      release?.();
      if (error instanceof StackError) throw error;
      throw new StackError('folder_unusable', `The data folder ${path} cannot be written.`, { cause: error });
    }
  }

  /** Returns a part's own folder; its log is beside its data. */
  partFolder(name: string): string {
    const folder = join(this.path, name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  saveSecrets(): void {
    const { secretsKey, linkKey, mcpStateKey, key, webhookSecret } = this.secrets;
    const text = JSON.stringify({
      secretsKey,
      linkKey,
      mcpStateKey,
      key: key.key,
      authPart: key.authPart,
      webhookSecret,
    });
    writeFileSync(join(this.path, 'secrets.json'), `${text}\n`, { mode: 0o600 });
  }
}

/** @throws StackError `folder_in_use` */
function takeLock(path: string): () => void {
  const lock = tryLockFile(join(path, LOCK), { mayHold: isStack, idOnly: true });
  if (lock.held) return lock.release;
  throw new StackError('folder_in_use', `The data folder ${path} is in use by another running stack.`);
}

/** A stack of this data folder is running, or starting, or stopping. */
export function isStackRunning(path: string): boolean {
  try {
    return isStack(Number(readFileSync(join(path, LOCK), 'utf8')));
  } catch {
    return false;
  }
}

/** Reports whether the holder is running, and is not a later process with its id. */
function isStack(pid: number): boolean {
  if (pid === process.pid || !isRunning(pid)) return false;
  try {
    return MAIN.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch (error) {
    // It has ended meanwhile; or this system has no such files.
    return !((error as NodeJS.ErrnoException).code === 'ENOENT' && existsSync('/proc/self'));
  }
}

/** A folder marked as ours may later be emptied, so one that holds other files is never marked. */
function refuseForeign(path: string, reset: boolean): void {
  const names = namesIn(path);
  if (names.length === 0 || names.includes(MARK)) return;
  const consequence = reset ? '--reset does not touch it' : 'it is not used; name a folder that is empty';
  throw new StackError('folder_unusable', `${path} holds other files than a stack's, so ${consequence}.`);
}

function empty(path: string): void {
  for (const name of namesIn(path)) rmSync(join(path, name), { recursive: true, force: true });
}

function namesIn(path: string): string[] {
  return readdirSync(path).filter((name) => !name.startsWith(LOCK));
}

function readSecrets(path: string): StackSecrets {
  const file = join(path, 'secrets.json');
  if (existsSync(file)) {
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    // A folder of an earlier release has no such keys.
    const { secretsKey, linkKey = newKey(), mcpStateKey = newKey(), key, authPart, webhookSecret } = kept;
    return {
      secretsKey,
      linkKey,
      mcpStateKey,
      key: { key, authPart },
      authSha256: authSha256(authPart),
      webhookSecret,
    };
  }
  const key = createServiceKey();
  return {
    secretsKey: newKey(),
    linkKey: newKey(),
    mcpStateKey: newKey(),
    key,
    authSha256: key.authSha256,
    webhookSecret: null,
  };
}

function newKey(): string {
  return randomBytes(32).toString('base64');
}
