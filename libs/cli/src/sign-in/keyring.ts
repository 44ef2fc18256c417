// The keyring of the system, where it has one: macOS, Windows, and a Linux desktop with a secret service.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROCESS = fileURLToPath(new URL('./keyring-process.js', import.meta.url));
/** A bus without a keyring behind it never answers. */
const OPEN_MS = 5_000;
/** A locked keyring asks its user; one that never answers counts as missing. */
const ANSWER_MS = 60_000;

export interface KeyringEntry {
  /** null: nothing is kept there. */
  read(): Promise<string | null>;
  /** False: it does not take it, for example because it is too long. */
  write(text: string): Promise<boolean>;
  remove(): Promise<void>;
}

/** Of this process: one that did not answer is not awaited again. */
let silent = false;

/** An error of the keyring counts as no keyring: the file is used. */
export function keyringEntry(account: string): KeyringEntry {
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

/** The outcome; undefined: none. */
async function done(work: Work): Promise<unknown> {
  if (silent) return undefined;
  const child = spawn(process.execPath, [PROCESS], { stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
  // A process that waits for the bus only ends this way.
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
