// Shows a run on a server as it changes: on a terminal all its steps, redrawn; elsewhere a line for each change.

import type { Run, Step, StepStatus } from '@methods/api/run';
import { isFinished } from '../server/run-calls.ts';
import { LiveFoot, spinner } from '../terminal/live-foot.ts';
import type { Output, Paint } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { timeSpan } from '../terminal/words.ts';

const MARKS: Readonly<Record<StepStatus, readonly [string, Paint]>> = {
  pending: ['·', 'dim'],
  running: ['', 'cyan'],
  waiting: ['?', 'yellow'],
  succeeded: ['✓', 'green'],
  failed: ['✗', 'red'],
  skipped: ['-', 'dim'],
  cancelled: ['×', 'dim'],
};
const REASONS: Readonly<Record<string, string>> = {
  no_worker: 'no worker of this method is connected',
  feature_missing: 'no connected worker has what it needs',
  key_missing: 'no connected worker has its content key',
  sleeping: 'it waits for its time',
};

export class ServerRunView {
  private readonly foot: LiveFoot;
  private run: Run | null = null;
  private seenAtMs = 0;
  private away = false;
  private readonly told = new Map<string, string>();

  constructor(private readonly output: Output) {
    this.foot = new LiveFoot(
      output,
      () => this.liveLines(),
      (line) => this.coloured(line),
    );
  }

  show(run: Run): void {
    this.run = run;
    this.seenAtMs = performance.now();
    if (this.output.live) {
      this.foot.start();
      this.foot.redraw();
    } else this.tellChanges(run);
  }

  /** The server is unavailable, or available again. */
  serverAway(away: boolean): void {
    this.away = away;
    if (this.output.live) this.foot.redraw();
    else this.output.note(away ? 'the server cannot be reached; trying again' : 'the server is there again');
  }

  /** Shows all steps once, including those that have not begun. */
  list(run: Run): void {
    this.run = run;
    for (const line of this.lines().slice(1)) this.output.line(this.coloured(line));
  }

  /** The last drawing stays. */
  rest(): void {
    if (!this.foot.isDrawn) return;
    this.foot.rest();
    this.away = false;
    for (const line of this.lines()) this.output.line(this.coloured(line));
  }

  /** The part that fits if there are more steps than rows: its end, where the changes are. */
  private liveLines(): string[] {
    const [head = '', ...steps] = this.lines();
    const rows = Math.max(1, this.output.rows - 2);
    const begun = steps.findLastIndex((line) => !line.startsWith(MARKS.pending[0])) + 1;
    const from = steps.length <= rows ? 0 : Math.max(0, Math.min(steps.length, begun + 1) - rows);
    return [head, ...steps.slice(from, from + rows)];
  }

  private lines(): string[] {
    const { run } = this;
    if (run === null) return [];
    const openMs = isFinished(run) ? 0 : performance.now() - this.seenAtMs;
    const spent = timeSpan(run.timing.running_ms + (run.status === 'running' ? openMs : 0));
    const head = `${run.run_id} ${statusWords(run)} ${spent}${this.away ? '  (the server cannot be reached)' : ''}`;
    return [head, ...run.steps.map((step) => this.stepLine(step, openMs))];
  }

  private stepLine(step: Step, openMs: number): string {
    const [mark] = MARKS[step.status] ?? MARKS.pending;
    const sign = mark === '' ? spinner(performance.now()) : mark;
    const goesOn = step.status === 'running' || step.status === 'waiting';
    const ms = spentMs(step) + (goesOn ? openMs : 0);
    const span = step.status === 'pending' || step.status === 'skipped' ? '' : ` ${timeSpan(ms)}`;
    const fault = step.error === undefined ? '' : `  ${faultWords(step)}`;
    return `${sign} ${nameOf(step)}${span}${fault}`;
  }

  private coloured(line: string): string {
    const status = Object.values(MARKS).find(([mark]) => mark !== '' && line.startsWith(`${mark} `));
    return status === undefined ? line : this.output.paint(status[1], line);
  }

  private tellChanges(run: Run): void {
    for (const step of run.steps) {
      const before = this.told.get(step.name) ?? 'pending';
      if (step.status === before) continue;
      this.told.set(step.name, step.status);
      const ended = !['running', 'waiting', 'pending'].includes(step.status);
      const span = ended && step.status !== 'skipped' ? ` ${timeSpan(spentMs(step))}` : '';
      this.output.line(`${step.status.padEnd(9)} ${nameOf(step)}${span}`);
      if (step.error !== undefined) this.output.line(`    ${faultWords(step)}`);
    }
    const state = statusWords(run);
    if (this.told.get('') === state) return;
    this.told.set('', state);
    if (!isFinished(run)) this.output.line(`${run.run_id} is ${state}`);
  }
}

/** Running and waiting time: for a question it is mostly waiting. */
function spentMs({ timing }: Step): number {
  return timing.running_ms + timing.waiting_ms;
}

function nameOf({ name }: Step): string {
  return plainText(name.replace(/@(?=require$|ensure$)/, '')).replaceAll('\n', ' ');
}

function faultWords({ error }: Step): string {
  const line = error?.line === undefined ? '' : `line ${error.line}: `;
  const reason = error?.reason === undefined ? '' : ` (${error.reason})`;
  // The first line has the server's message; the run has all of it.
  const [body = ''] = (error?.body ?? '').split('\n');
  const said = `${error?.message ?? ''}${reason}${body === '' ? '' : `: ${body}`}`;
  return `${line}${plainText(said).replaceAll('\n', ' ')}`;
}

/** `queued: no worker of this method is connected`, `cleaning up after no_answer`. */
export function statusWords(run: Run): string {
  const { status, queued_reason: reason, cancel_requested: cancels } = run;
  if (cancels === true && status === 'running') return 'running, to be cancelled';
  const after = run.ending === undefined ? '' : ` after ${plainText(run.ending.code)}`;
  const word = after !== '' && status === 'waiting' ? 'waiting, cleaning up' : statusWord(run);
  const why = reason === undefined ? undefined : REASONS[reason];
  return why === undefined ? `${word}${after}` : `${word}${after}: ${why}`;
}

/** One word or two, for a table. A run that waits for a person says so, for any question. */
export function statusWord({ status, ending }: Run): string {
  if (ending === undefined || status === 'waiting') return status;
  return status === 'queued' ? 'to clean up' : 'cleaning up';
}
