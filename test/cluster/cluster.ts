// A whole system as one child process, the local stack's own main, whose parts a test may kill, freeze and wipe. The
// stack starts again what dies; the present process ids are in its ready file.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRunning } from '@methods/base/running-process';
import type { ReadyLine } from '@methods/local-stack/stack';
import { NO_SIGN_IN, type StackFolder, StackProcess, stackFolder } from '../e2e/stack-process.ts';
import { migratedDatabase } from '../harness/migrated-database.ts';
import { processTree } from '../harness/process-tree.ts';
import { until } from '../harness/until.ts';

const METHODS = fileURLToPath(new URL('./methods/', import.meta.url));
const LOG_TAIL_LINES = 40;
/** A process that is asked to end, and one that the stack starts again. */
const CHANGE_MS = 180_000;
/** A thread of a process that is being stopped may still write a file into a folder that was just emptied. */
const REMOVED = { recursive: true, force: true, maxRetries: 10, retryDelay: 10 } as const;

export interface ClusterOptions {
  readonly schedulers?: number;
  readonly gateways?: number;
  readonly workers?: number;
  /** Runs one worker executes side by side. */
  readonly concurrency?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** On a database of the tests' Postgres, for a cluster whose Postgres no test kills or measures. */
  readonly sharesPostgres?: boolean;
  /** With an identity provider, so that people can sign in. */
  readonly signIn?: boolean;
  /** The folder of the methods to publish; that of these tests by default. */
  readonly methods?: string;
}

export class Cluster {
  private readonly frozen = new Set<number>();

  private constructor(
    private readonly folder: StackFolder,
    readonly ready: ReadyLine,
    private readonly stack: StackProcess,
    private readonly dropDatabase: () => Promise<void>,
  ) {}

  /** With as little as one of each; the methods are those of ./methods. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const database = options.sharesPostgres ? await migratedDatabase() : null;
    const dropDatabase = async () => database?.drop();
    const folder = stackFolder('cluster');
    const {
      schedulers = 1,
      gateways = 1,
      workers = 1,
      concurrency = 16,
      env = {},
      signIn = false,
      methods = METHODS,
    } = options;
    const args = ['--json', '--port', '0', '--methods', methods];
    const sizes = { schedulers, gateways, workers, concurrency };
    for (const [name, size] of Object.entries(sizes)) args.push(`--${name}`, `${size}`);
    // Steps of these tests leave their marks in files of the test, which a sandbox would hide.
    const given = {
      WORKER_SANDBOX: 'off',
      ...(signIn ? {} : NO_SIGN_IN),
      ...(database && { POSTGRES_URL: database.url }),
      ...env,
    };
    const stack = new StackProcess({ ...folder, args, env: given });
    try {
      return new Cluster(folder, await stack.ready, stack, dropDatabase);
    } catch (error) {
      console.error(logTails(folder.dataDir));
      await stack.stop();
      folder.remove();
      await dropDatabase();
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

  /** Names and process ids of now. */
  processes(): readonly { readonly name: string; readonly pid: number }[] {
    return this.present().processes;
  }

  nameOf(pid: number): string | null {
    return this.present().processes.find((entry) => entry.pid === pid)?.name ?? null;
  }

  /** Resolves when the process is gone; the stack starts it again by itself. */
  async kill(name: string, signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT' = 'SIGKILL'): Promise<void> {
    const pid = await this.runningPid(name);
    process.kill(pid, signal);
    await until(`${name} is gone`, () => !isRunning(pid), CHANGE_MS);
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

  /** Freezes it with all its children, as a machine that stalls does; returns a function that resumes them. */
  freezeTree(name: string): () => void {
    const pids = processTree(this.pidOf(name));
    for (const pid of pids) {
      this.frozen.add(pid);
      signal(pid, 'SIGSTOP');
    }
    return () => {
      for (const pid of pids.reverse()) {
        this.frozen.delete(pid);
        signal(pid, 'SIGCONT');
      }
    };
  }

  /** A worker dies and has lost its files when it is back. */
  async wipeWorker(name: string): Promise<void> {
    const pid = await this.runningPid(name);
    // Stopped first: nothing is written between the removal and the death.
    const letGo = this.freezeTree(name);
    rmSync(join(this.folder.dataDir, name, 'files'), REMOVED);
    process.kill(pid, 'SIGKILL');
    letGo();
    await until(`${name} is gone`, () => !isRunning(pid), CHANGE_MS);
  }

  /** NATS dies and has lost everything when it is back. */
  async wipeNats(): Promise<void> {
    const pid = await this.runningPid('nats');
    // Stopped first: nothing is written between the removal and the death.
    process.kill(pid, 'SIGSTOP');
    rmSync(join(this.folder.dataDir, 'nats', 'jetstream'), REMOVED);
    process.kill(pid, 'SIGKILL');
    await this.restarted('nats', pid);
  }

  /** Base URLs of all gateways, the first one first; each keeps its port. */
  gatewayUrls(): string[] {
    return this.names('gateway').map((name) => {
      const [, port] = /"port":(\d+),"msg":"serving"/.exec(this.log(name)) ?? [];
      if (port === undefined) throw new Error(`${name} wrote no port to its log`);
      return `http://127.0.0.1:${port}`;
    });
  }

  /** How often the stack started a process again, by its name. */
  restarts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const line of this.stack.stderr) {
      const [, name] = /^(\S+) ended and was started again/.exec(line) ?? [];
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  /** All that a process wrote to its log. */
  log(name: string): string {
    return readFileSync(join(this.folder.dataDir, name, 'log'), 'utf8');
  }

  /** A folder of the test's own, beside the data. */
  file(name: string): string {
    mkdirSync(join(this.folder.path, 'test'), { recursive: true });
    return join(this.folder.path, 'test', name);
  }

  /** What every process wrote last. */
  logTails(): string {
    return logTails(this.folder.dataDir);
  }

  /** Copies the log of every process into `folder`, each under the process's name. */
  keepLogs(folder: string): void {
    mkdirSync(folder, { recursive: true });
    for (const name of this.names()) writeFileSync(join(folder, `${name}.log`), this.log(name));
  }

  async stop(): Promise<void> {
    for (const pid of this.frozen) if (isRunning(pid)) process.kill(pid, 'SIGCONT');
    await this.stack.stop();
    this.folder.remove();
    await this.dropDatabase();
  }

  /** Resolves when it runs again under another process id than `before`. */
  private async restarted(name: string, before: number): Promise<void> {
    await until(`${name} runs again`, () => this.pidOf(name) !== before && isRunning(this.pidOf(name)), CHANGE_MS);
  }

  private async runningPid(name: string): Promise<number> {
    return until(`${name} runs`, () => isRunning(this.pidOf(name)) && this.pidOf(name), CHANGE_MS);
  }

  private present(): ReadyLine {
    const stacks = join(this.folder.stateDir, 'methods', 'stacks');
    const [file] = readdirSync(stacks).filter((name) => name.endsWith('.json'));
    if (file === undefined) throw new Error('the stack has no ready file');
    return JSON.parse(readFileSync(join(stacks, file), 'utf8'));
  }
}

/** To one that may have ended meanwhile. */
function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function logTails(data: string): string {
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
