// Runs one child process of a step as the leader of its own process group: reads its lines from file descriptor 3 and
// its prints, and at its end leaves no process of the group, or of its sandbox, behind.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Clock } from '@methods/base/clock';
import { endLoose, endSandbox, looseProcesses } from './ended-processes.ts';
import { LineReader } from './line-reader.ts';
import { groupMembers, readProcessTable, wantsProcessor } from './process-table.ts';
import type { Launch } from './runner-launch.ts';
import { SandboxInit } from './sandbox-init.ts';

const LINE_BYTES_MAX = 12 * 1024 * 1024;
const KILL_AFTER_MS = 10_000;
const CLOSE_AFTER_EXIT_MS = 1000;
const STDERR_BYTES_KEPT = 4096;
const INFO_BYTES_MAX = 4096;

export interface ChildEvents {
  readonly onLine: (line: string) => void;
  /** A line exceeded its bound; no more lines follow. */
  readonly onOverflow: () => void;
  readonly onPrint: (source: 'stdout' | 'stderr', chunk: Buffer) => void;
  /** Called once, when the process and its last output are gone. Both null: it could not be started. */
  readonly onGone: (code: number | null, signal: NodeJS.Signals | null) => void;
}

export class ChildGroup {
  private readonly child: ChildProcess;
  private readonly pipe: Socket;
  private stderr = Buffer.alloc(0);
  /** Set once a sandbox has started. */
  private init: SandboxInit | null = null;
  /** The process of the sandbox that runs steps. */
  private runner: number | null = null;
  private gone = false;
  /** Resolves when the lines received before the sandbox was known have been passed on. */
  private linesRead: Promise<void> = Promise.resolve();

  /** Throws when the system can start no more processes, or an argument is too long for it. */
  constructor(
    private readonly launch: Launch,
    private readonly clock: Clock,
    private readonly events: ChildEvents,
  ) {
    const { command, args, cwd, env, sandboxed, tickets = null } = launch;
    const info = sandboxed ? 'pipe' : 'ignore';
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'pipe', info, ...(tickets === null ? [] : [tickets])];
    this.child = spawn(command, args, { cwd, env, detached: true, stdio });
    this.pipe = this.child.stdio[3] as Socket;
    this.listen();
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** The end of the process's output on stderr. */
  get stderrTail(): string {
    return this.stderr.toString();
  }

  /** Bytes written that are still in this process. */
  get unreadBytes(): number {
    return this.pipe.writableLength;
  }

  /** True while the process that runs steps has a processor or waits for one. */
  get isComputing(): boolean {
    const pid = this.runner ?? this.pid;
    return pid !== undefined && wantsProcessor(pid);
  }

  write(text: string): void {
    this.pipe.write(text);
  }

  /** SIGTERM to the group, and SIGKILL after 10 s. */
  terminate(): void {
    this.signal('SIGTERM');
    const kill = this.clock.after(KILL_AFTER_MS, () => this.signal('SIGKILL'));
    this.child.once('exit', () => kill.cancel());
  }

  /** Resolves when the process is gone. The other processes of its sandbox are gone at `onGone`. */
  kill(): Promise<void> {
    if (this.hasExited || this.child.pid === undefined) return Promise.resolve();
    const exited = new Promise<void>((resolve) => this.child.once('exit', () => resolve()));
    this.signal('SIGKILL');
    return exited;
  }

  /** Called before any code of a step runs: a process that appears later was started by a step. */
  ready(): void {
    this.runner = this.init?.onlyProcess() ?? null;
  }

  /**
   * True when a process exists besides the one that runs steps. Without a sandbox, finds only what the process table
   * shows.
   */
  hasOthers(workDir: string): boolean {
    const { pid } = this;
    if (pid === undefined) return false;
    if (!this.launch.sandboxed) return looseProcesses({ leader: pid, workDir, spareLeader: true }).length > 0;
    return this.init === null || this.runner === null || this.init.hasOthers(this.runner);
  }

  /**
   * Ends the processes that a step started and waits until they are gone. In a sandbox this ends the runner as well,
   * since the sandbox's first process takes all others with it. False: they did not end in time.
   */
  async endOthers(workDir: string): Promise<boolean> {
    const { pid, init, clock } = this;
    if (pid === undefined) return true;
    if (!this.launch.sandboxed) return endLoose({ leader: pid, workDir, spareLeader: !this.hasExited }, clock);
    return init === null ? this.hasExited : endSandbox(init, clock);
  }

  private get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  private listen(): void {
    const { events } = this;
    const began = this.launch.sandboxed ? this.sandboxBegan() : Promise.resolve();
    this.listenToLines(began);
    // Ignored: the process is just ending, and its exit explains the rest.
    this.pipe.on('error', () => {});
    this.child.stdout?.on('data', (chunk: Buffer) => events.onPrint('stdout', chunk));
    this.child.stderr?.on('data', (chunk: Buffer) => {
      events.onPrint('stderr', chunk);
      this.stderr = Buffer.concat([this.stderr, chunk]).subarray(-STDERR_BYTES_KEPT);
    });
    this.child.on('error', () => this.leave(null, null));
    this.child.on('exit', (code, signal) => this.onExit(code, signal));
  }

  /** Resolves when the first process of the sandbox is known, or known to be missing. */
  private sandboxBegan(): Promise<void> {
    const info = this.child.stdio[4] as Socket;
    let text = '';
    info.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('latin1')).slice(0, INFO_BYTES_MAX);
    });
    info.on('error', () => {});
    return new Promise((resolve) => {
      info.on('close', () => {
        this.init = SandboxInit.of(text);
        resolve();
      });
    });
  }

  /** Passes lines on after `began`. They are read before: Node discards unread data when a process exits. */
  private listenToLines(began: Promise<void>): void {
    const { events } = this;
    const lines = new LineReader(LINE_BYTES_MAX, events.onLine);
    let early: Buffer[] | null = [];
    let earlyBytes = 0;
    let overflown = false;
    const push = (chunk: Buffer) => {
      if (overflown || lines.push(chunk)) return;
      overflown = true;
      events.onOverflow();
    };
    this.pipe.on('data', (chunk: Buffer) => {
      if (early === null) return push(chunk);
      if (overflown) return;
      earlyBytes += chunk.length;
      early.push(chunk);
      if (earlyBytes <= LINE_BYTES_MAX) return;
      overflown = true;
      events.onOverflow();
    });
    this.linesRead = began.then(() => {
      const chunks = early ?? [];
      early = null;
      for (const chunk of chunks) push(chunk);
    });
  }

  private onExit(code: number | null, signal: NodeJS.Signals | null): void {
    // Otherwise, processes that the step started would outlive it in its group and hold the pipes open.
    this.signal('SIGKILL');
    const waited = new Promise<void>((resolve) => this.clock.after(CLOSE_AFTER_EXIT_MS, resolve));
    const ended = Promise.race([this.linesRead, waited]).then(() =>
      this.init === null ? true : endSandbox(this.init, this.clock),
    );
    const closed = new Promise<void>((resolve) => {
      // The last bytes arrive before 'close'. A process that left the group may prevent 'close' forever.
      this.clock.after(CLOSE_AFTER_EXIT_MS, resolve);
      this.child.once('close', () => resolve());
    });
    void Promise.all([ended, closed]).then(() => this.leave(code, signal));
  }

  private leave(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.gone) return;
    this.gone = true;
    const inner = this.launch.sandboxed && code !== null && code > 128 ? signalOf(code - 128) : null;
    // Bubblewrap reports a signal as a shell does, as 128 plus its number.
    if (inner === null) this.events.onGone(code, signal);
    else this.events.onGone(null, inner);
  }

  private signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this;
    if (pid === undefined) return;
    try {
      if (signal === 'SIGTERM' && this.launch.sandboxed) this.terminateInside(pid);
      else process.kill(-pid, signal);
    } catch {
      // No process of the group is left.
    }
  }

  /**
   * Signals the processes inside: bubblewrap itself would end the sandbox at once and leave the step no time to end.
   */
  private terminateInside(leader: number): void {
    const table = readProcessTable();
    for (const pid of groupMembers(table, leader)) {
      if (pid === leader || table.get(pid)?.parent === leader) continue;
      try {
        process.kill(pid, 'SIGTERM');
      } catch {
        // It ended meanwhile.
      }
    }
  }
}

function signalOf(number: number): NodeJS.Signals | null {
  const found = Object.entries(constants.signals).find(([, it]) => it === number);
  return found === undefined ? null : (found[0] as NodeJS.Signals);
}
