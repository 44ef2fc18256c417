// One child process of a step, leader of a process group of its own: its lines on file descriptor 3, its prints, and
// an end that leaves no process of the group.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Clock } from '@methods/base/clock';
import { LineReader } from './line-reader.ts';
import { groupMembers, readProcessTable } from './process-table.ts';
import type { Launch } from './runner-launch.ts';

const LINE_BYTES_MAX = 12 * 1024 * 1024;
const KILL_AFTER_MS = 10_000;
const CLOSE_AFTER_EXIT_MS = 1000;
const STDERR_BYTES_KEPT = 4096;

export interface ChildEvents {
  readonly onLine: (line: string) => void;
  /** A line exceeded its bound; nothing more comes. */
  readonly onOverflow: () => void;
  readonly onPrint: (source: 'stdout' | 'stderr', chunk: Buffer) => void;
  /** Once, when the process and its last output are gone. Both null: it could not be started. */
  readonly onGone: (code: number | null, signal: NodeJS.Signals | null) => void;
}

export class ChildGroup {
  private readonly child: ChildProcess;
  private readonly pipe: Socket;
  private stderr = Buffer.alloc(0);
  private gone = false;

  /** Throws when the system has no process left to give, or an argument is too long for it. */
  constructor(
    private readonly launch: Launch,
    private readonly clock: Clock,
    private readonly events: ChildEvents,
  ) {
    const { command, args, cwd, env } = launch;
    this.child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
    this.pipe = this.child.stdio[3] as Socket;
    this.listen();
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** The end of what the process printed to stderr. */
  get stderrTail(): string {
    return this.stderr.toString();
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

  /** Resolves when the process is gone. */
  kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null || this.child.pid === undefined) {
      return Promise.resolve();
    }
    const exited = new Promise<void>((resolve) => this.child.once('exit', () => resolve()));
    this.signal('SIGKILL');
    return exited;
  }

  private listen(): void {
    const { events } = this;
    const lines = new LineReader(LINE_BYTES_MAX, events.onLine);
    let overflown = false;
    this.pipe.on('data', (chunk: Buffer) => {
      if (overflown || lines.push(chunk)) return;
      overflown = true;
      events.onOverflow();
    });
    // A write to a process that is just ending: its exit tells the rest.
    this.pipe.on('error', () => {});
    this.child.stdout?.on('data', (chunk: Buffer) => events.onPrint('stdout', chunk));
    this.child.stderr?.on('data', (chunk: Buffer) => {
      events.onPrint('stderr', chunk);
      this.stderr = Buffer.concat([this.stderr, chunk]).subarray(-STDERR_BYTES_KEPT);
    });
    this.child.on('error', () => this.leave(null, null));
    this.child.on('exit', (code, signal) => {
      // Processes that the step started would outlive it in its group, and hold the pipes open.
      this.signal('SIGKILL');
      // The pipes' last bytes come before 'close'; one that left the group may keep it from ever coming.
      this.clock.after(CLOSE_AFTER_EXIT_MS, () => this.leave(code, signal));
    });
    this.child.on('close', (code, signal) => this.leave(code, signal));
  }

  private leave(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.gone) return;
    this.gone = true;
    const inner = this.launch.sandboxed && code !== null && code > 128 ? signalOf(code - 128) : null;
    // Bubblewrap tells a signal as a shell does.
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

  /** Bubblewrap itself would take the sandbox down at once, and the step would not have its time to end. */
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
