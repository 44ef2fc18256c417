// The local stack as a child process, started with the command that people use. The stack, its servers and its folder
// go with the test, however it ends.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { guardAgainstParentDeath } from '@methods/local-stack/embedded/server-process';
import type { ReadyLine } from '@methods/local-stack/stack';
import { tempFolder } from '../harness/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const END_WITHIN_MS = 180_000;
/** A developer's own servers are not for tests. */
const NOT_PASSED_ON = [
  ...[
    'POSTGRES_URL',
    'NATS_URL',
    'SMTP_URL',
    'MAIL_FROM',
    'INIT_CWD',
    'NODE_OPTIONS',
    'WEBHOOK_RETRY_MS',
    'HEARTBEAT_MS',
  ],
];

export interface StackProcessOptions {
  /** After `--data-dir`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly dataDir: string;
  /** Where ready lines go: in a folder of the test's own, which goes with the test. */
  readonly stateDir: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Started as `npm start` does, which finds or builds the code itself. */
  readonly asPeopleDo?: boolean;
  /** A command in front, with its arguments. */
  readonly wrapper?: readonly string[];
}

export interface StackExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** For stacks without sign-ins: with an issuer elsewhere, which is never asked, they start a process less. */
export const NO_SIGN_IN = { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_CLIENT_ID: 'nobody' } as const;

export class StackProcess {
  readonly pid: number;
  readonly exited: Promise<StackExit>;
  /** Lines so far. */
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  /** Rejects with what the process said when it ends before it is ready. */
  readonly ready: Promise<ReadyLine>;
  private readonly child;

  constructor({ args = [], env = {}, dataDir, stateDir, uid, gid, asPeopleDo, wrapper = [] }: StackProcessOptions) {
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_PASSED_ON.includes(name)));
    const code = asPeopleDo ? startScript() : nodeArguments(new URL('../../deploy/local/src/main.ts', import.meta.url));
    const command = [...wrapper, process.execPath, ...code, '--data-dir', dataDir, ...args];
    this.child = spawn(command[0] as string, command.slice(1), {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...inherited, XDG_STATE_HOME: stateDir, ...env },
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
    });
    this.pid = this.child.pid as number;
    const guard = guardAgainstParentDeath({ pid: this.pid, marker: dataDir, removeFolder: dirname(stateDir) });
    createInterface({ input: this.child.stderr }).on('line', (line) => this.stderr.push(line));
    const lines = createInterface({ input: this.child.stdout });
    lines.on('line', (line) => this.stdout.push(line));
    // After `close` all that was written has been read.
    this.exited = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        guard.serverEnded();
        resolve({ code, signal });
      });
    });
    this.ready = new Promise((resolve, reject) => {
      lines.on('line', (line) => {
        if (line.startsWith('{"ready":true')) resolve(JSON.parse(line) as ReadyLine);
      });
      void this.exited.then(({ code, signal }) => {
        reject(new Error(`the stack ended with ${code ?? signal}: ${this.stderr.join('\n')}`));
      });
    });
    // Not every caller waits for it.
    this.ready.catch(() => {});
  }

  /** Sends the signal and waits for the end; SIGKILL after three minutes. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<StackExit> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    const killer = setTimeout(() => this.child.kill('SIGKILL'), END_WITHIN_MS);
    const exit = await this.exited;
    clearTimeout(killer);
    return exit;
  }
}

/** What package.json's own script gives to node. */
function startScript(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').slice(1);
}

export interface StackFolder {
  readonly dataDir: string;
  readonly stateDir: string;
  readonly path: string;
  remove(): void;
}

export function stackFolder(name: string): StackFolder {
  const path = tempFolder(name);
  mkdirSync(join(path, 'state'));
  return {
    path,
    dataDir: join(path, 'data'),
    stateDir: join(path, 'state'),
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}
