// `methods worker` as a process of its own, with the lines it has said.
import type { ChildProcess } from 'node:child_process';
import { until } from '../harness/until.ts';
import type { StackDesk } from './stack-desk.ts';

interface WorkerLine {
  readonly event: string;
  readonly run_id?: string;
  readonly end?: string;
  readonly text?: string;
}

export class StartedWorker {
  readonly lines: WorkerLine[] = [];
  readonly exited: Promise<number | null>;
  private readonly child: ChildProcess;
  private rest = '';
  private complaints = '';

  constructor(desk: StackDesk, ...args: string[]) {
    this.child = desk.folder.spawn(['worker', '--json', '--no-sandbox', ...args], desk.env);
    this.child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (this.rest + chunk.toString()).split('\n');
      this.rest = lines.pop() ?? '';
      for (const line of lines) this.lines.push(JSON.parse(line) as WorkerLine);
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.complaints += chunk.toString();
    });
    this.exited = new Promise((resolve) => this.child.on('close', resolve));
  }

  says(what: string, isSo: (line: WorkerLine) => boolean): Promise<WorkerLine> {
    return until(what, () => {
      if (this.child.exitCode !== null) throw new Error(`the worker ended: ${this.complaints}`);
      return this.lines.find(isSo);
    });
  }

  /** As where it speaks to `tee`, which Ctrl-C has ended. */
  unread(): void {
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}
