// Shows the steps of a run while they run: on a terminal with a line at the foot for the running ones, elsewhere as
// plain lines.
import type { LogSource } from '@methods/executor/log-tail';
import type { CheckRecord, StepEnd } from '@methods/executor/run-outcome';
import { progressText, type StepEvent } from '@methods/executor/step-event';
import type { StepError } from '@methods/executor/step-failure';
import type { StepKind } from '@methods/method/compiled-method';
import type { WalkView } from '../local-run/local-walk.ts';
import { LiveFoot, spinner } from '../terminal/live-foot.ts';
import type { Output, Paint } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { timeSpan } from '../terminal/words.ts';

const LOG_LINES_MAX = 200;
const LINE_CHARACTERS_MAX = 4000;
/** For the body of an http answer that failed its step. */
const ANSWER_LINES_MAX = 20;
/** They only contain other steps, which are shown. */
const GROUPS: readonly StepKind[] = ['steps', 'parallel', 'call'];

const MARKS: Readonly<Record<StepEnd['status'], readonly [string, Paint]>> = {
  succeeded: ['✓', 'green'],
  failed: ['✗', 'red'],
  skipped: ['-', 'dim'],
};

interface RunningStep {
  readonly sinceMs: number;
  printed: boolean;
  /** By source: the text after its last line end. */
  readonly rest: Map<LogSource, string>;
  /** The step's last report, safe for a terminal. */
  progress: string;
}

export class StepView implements WalkView {
  /** Steps that ended in this process: a walk that continues after a question passes them again. */
  private readonly seen = new Set<string>();
  private readonly running = new Map<string, RunningStep>();
  private readonly foot: LiveFoot;

  constructor(private readonly output: Output) {
    this.foot = new LiveFoot(output, () => this.footLines());
  }

  stepStarted(path: string, kind: StepKind): void {
    if (GROUPS.includes(kind)) return;
    this.running.set(path, { sinceMs: performance.now(), printed: false, rest: new Map(), progress: '' });
    this.foot.start();
    this.foot.redraw();
  }

  /** A step's output, while it runs. */
  logged(path: string, text: string, from: LogSource): void {
    const step = this.running.get(path);
    if (step === undefined) return;
    step.printed = true;
    // Shown by the line at the foot.
    if (from === 'progress' && this.output.live) return;
    // Chunks are cut anywhere: the text after the last line end waits for the rest of its line.
    const whole = (step.rest.get(from) ?? '') + text;
    const end = whole.lastIndexOf('\n') + 1;
    step.rest.set(from, whole.slice(end).slice(-LINE_CHARACTERS_MAX));
    if (end > 0) this.above(() => this.log(path, whole.slice(0, end)));
  }

  told(path: string, event: StepEvent): void {
    const step = this.running.get(path);
    if (step === undefined || event.t !== 'progress') return;
    // Shown by the next redraw, since a step may send thousands of reports in a second.
    step.progress = plainText(progressText(event)).replaceAll('\n', ' ');
  }

  stepRetrying(path: string, tryNumber: number, delayMs: number, error: StepError): void {
    const { output } = this;
    const what = `    ${plainText(error.message)}; try ${tryNumber} of ${path} in ${timeSpan(delayMs)}`;
    this.above(() => output.line(output.paint('yellow', what)));
  }

  stepKept(path: string): void {
    if (this.seen.has(path)) return;
    this.seen.add(path);
    this.above(() =>
      this.output.line(
        this.output.paint('dim', this.output.live ? `· ${nameOf(path)} kept` : `kept      ${nameOf(path)}`),
      ),
    );
  }

  stepEnded(record: StepEnd): void {
    this.seen.add(record.path);
    const step = this.running.get(record.path);
    this.running.delete(record.path);
    this.above(() => {
      for (const rest of step?.rest.values() ?? []) if (rest !== '') this.log(record.path, rest);
      if (record.log !== null && step?.printed !== true) this.log(record.path, record.log.text);
      this.end(record);
    });
  }

  note(text: string): void {
    this.above(() => this.output.line(text));
  }

  /** Advice beside the steps, on stderr. */
  remark(text: string): void {
    this.above(() => this.output.note(text));
  }

  /** Removes the foot: other text is printed now, or nothing more. */
  rest(): void {
    this.foot.rest();
  }

  private end(record: StepEnd): void {
    const { output } = this;
    const [mark, paint] = MARKS[record.status];
    const head = output.live ? output.paint(paint, mark) : output.paint(paint, record.status.padEnd(9));
    const span = record.status === 'skipped' ? 'if was false' : timeSpan(record.finishedAtMs - record.startedAtMs);
    output.line(`${head} ${nameOf(record.path)} ${output.paint('dim', span)}`);
    for (const check of record.checks) this.check(check);
    // A failed check is already shown.
    if (record.error === null || record.checks.some(({ status }) => status === 'failed')) return;
    const { message, line, reason = '', headers = {}, body = '' } = record.error;
    const said = reason === '' ? message : `${message} (${reason})`;
    output.line(output.paint('red', `    ${line === undefined ? '' : `line ${line}: `}${plainText(said)}`));
    for (const [name, value] of Object.entries(headers)) this.answerLine(`${name}: ${String(value)}`);
    for (const text of body === '' ? [] : body.trimEnd().split('\n').slice(0, ANSWER_LINES_MAX)) this.answerLine(text);
  }

  private answerLine(text: string): void {
    this.output.line(this.output.paint('dim', `    │ ${plainText(text)}`));
  }

  private check({ name, status, message }: CheckRecord): void {
    const paint = ({ passed: 'green', failed: 'red', warned: 'yellow' } as const)[status];
    const said = message === null ? '' : ` (${plainText(message)})`;
    this.output.line(`    ${this.output.paint(paint, status.padEnd(6))} ${plainText(name)}${said}`);
  }

  private log(path: string, text: string): void {
    const lines = plainText(text).replace(/\n$/, '').split('\n');
    const left = lines.length - LOG_LINES_MAX;
    if (left > 0) this.output.line(this.output.paint('dim', `    │ … ${left} more lines in the step's folder`));
    // Without a mark, lines of steps that run side by side would not show their step.
    const mark = this.running.size > 1 ? `${path} │` : '│';
    for (const line of lines.slice(-LOG_LINES_MAX)) this.output.line(this.output.paint('dim', `    ${mark} ${line}`));
  }

  private above(print: () => void): void {
    this.foot.above(print);
  }

  private footLines(): string[] {
    const [oldest] = this.running.values();
    if (oldest === undefined) return [];
    const span = timeSpan(performance.now() - oldest.sinceMs);
    const steps = Array.from(this.running, ([path, { progress }]) => (progress === '' ? path : `${path} ${progress}`));
    return [`${spinner(performance.now())} ${span} ${steps.join(', ')}`];
  }
}

/** The method's own checks are records too, under names that no step can have. */
function nameOf(path: string): string {
  return plainText(path.replace(/@(?=require$|ensure$)/, ''));
}
