// A whole system as one child process, the local stack's own main, whose parts a test may kill, freeze and wipe. The
// stack starts again what dies; the present process ids stand in its ready file.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/until.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const METHODS = fileURLToPath(new URL('./methods/', import.meta.url));
const LOG_TAIL_LINES = 40;
const START_MS = 90_000;
const STOP_MS = 40_000;

export interface ClusterOptions {
  readonly schedulers?: number;
  readonly gateways?: number;
  readonly workers?: number;
  /** Runs one worker executes side by side. */
  readonly concurrency?: number;
  readonly env?: Readonly<Record<string, string>>;
}

interface ReadyLine {
  readonly base_url: string;
  readonly api_key: string;
  readonly org_id: string;
  readonly postgres_url: string;
  readonly nats_url: string;
  readonly methods: Readonly<Record<string, string>>;
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
}

export class Cluster {
  private readonly frozen = new Set<number>();

  private constructor(
    /** Gone after `stop`. */
    readonly folder: string,
    readonly ready: ReadyLine,
    private readonly stack: ChildProcess,
    private readonly stackEnded: Promise<unknown>,
  ) {}

  /** With as little as one of each; the methods are those of ./methods. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const folder = tempFolder('cluster');
    const { schedulers = 1, gateways = 1, workers = 1, concurrency = 16, env = {} } = options;
    const sizes = { schedulers, gateways, workers, concurrency };
    const args = ['--json', '--port', '0', '--data-dir', join(folder, 'data'), '--methods', METHODS];
    for (const [name, size] of Object.entries(sizes)) args.push(`--${name}`, String(size));
    const stack = spawn(process.execPath, ['--import', 'tsx', join(ROOT, 'deploy/local/src/main.ts'), ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...withoutTestRunner(process.env), ...env, XDG_STATE_HOME: join(folder, 'state') },
    });
    const ended = new Promise((resolve) => stack.once('exit', resolve));
    const lateMs = AbortSignal.timeout(START_MS);
    try {
      const line = await new Promise<string>((resolve, reject) => {
        createInterface({ input: stack.stdout }).once('line', resolve);
        void ended.then((code) => reject(new Error(`the stack ended with ${code} before it was ready`)));
        lateMs.onabort = () => reject(new Error(`the stack was not ready within ${START_MS} ms`));
      });
      return new Cluster(folder, JSON.parse(line), stack, ended);
    } catch (error) {
      console.error(logTails(folder));
      stack.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Names of processes that begin with `prefix`. */
  names(prefix = ''): string[] {
    return this.ready.processes.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  }

  methodId(name: string): string {
    const id = this.ready.methods[name];
    if (id === undefined) throw new Error(`${name} is not published`);
    return id;
  }

  /** Of the process running now; where it just died, of the one before. */
  pidOf(name: string): number {
    const found = this.present().processes.find((entry) => entry.name === name);
    if (found === undefined) throw new Error(`there is no process ${name}`);
    return found.pid;
  }

  isRunning(name: string): boolean {
    return isAlive(this.pidOf(name));
  }

  nameOf(pid: number): string | null {
    return this.present().processes.find((entry) => entry.pid === pid)?.name ?? null;
  }

  /** Resolves when the process is gone; the stack starts it again by itself. */
  async kill(name: string, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const pid = await this.runningPid(name);
    process.kill(pid, signal);
    await until(`${name} is gone`, () => !isAlive(pid), STOP_MS);
  }

  /** Resolves when it runs again under another process id than `before`. */
  async restarted(name: string, before: number): Promise<void> {
    await until(`${name} runs again`, () => this.pidOf(name) !== before && isAlive(this.pidOf(name)), STOP_MS);
  }

  freeze(name: string): void {
    const pid = this.pidOf(name);
    this.frozen.add(pid);
    process.kill(pid, 'SIGSTOP');
  }

  thaw(name: string): void {
    const pid = this.pidOf(name);
    this.frozen.delete(pid);
    process.kill(pid, 'SIGCONT');
  }

  /** NATS dies and has lost everything when it is back. */
  async wipeNats(): Promise<void> {
    const pid = await this.runningPid('nats');
    // Stopped first: nothing is written between the removal and the death.
    process.kill(pid, 'SIGSTOP');
    rmSync(join(this.folder, 'data', 'nats', 'jetstream'), { recursive: true, force: true });
    process.kill(pid, 'SIGKILL');
    await this.restarted('nats', pid);
  }

  /** A folder of the test's own, beside the data. */
  file(name: string): string {
    mkdirSync(join(this.folder, 'test'), { recursive: true });
    return join(this.folder, 'test', name);
  }

  /** What every process wrote last. */
  logTails(): string {
    return logTails(this.folder);
  }

  async stop(): Promise<void> {
    for (const pid of this.frozen) if (isAlive(pid)) process.kill(pid, 'SIGCONT');
    this.stack.kill('SIGTERM');
    const killer = setTimeout(() => this.stack.kill('SIGKILL'), STOP_MS);
    await this.stackEnded;
    clearTimeout(killer);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  private async runningPid(name: string): Promise<number> {
    return until(`${name} runs`, () => isAlive(this.pidOf(name)) && this.pidOf(name), STOP_MS);
  }

  private present(): ReadyLine {
    const stacks = join(this.folder, 'state', 'methods', 'stacks');
    const [file] = readdirSync(stacks).filter((name) => name.endsWith('.json'));
    if (file === undefined) throw new Error('the stack has no ready file');
    return JSON.parse(readFileSync(join(stacks, file), 'utf8'));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The runner's own settings would make each child report to it. */
function withoutTestRunner(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...rest } = env;
  return rest;
}

function logTails(folder: string): string {
  const data = join(folder, 'data');
  if (!existsSync(data)) return 'The stack wrote no logs.';
  return readdirSync(data)
    .map((name) => ({ name, file: join(data, name, 'log') }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => {
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      return `--- ${name}\n${lines.slice(-LOG_TAIL_LINES).join('\n')}`;
    })
    .join('\n');
}
