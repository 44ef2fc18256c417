// Orders the output of a warm runner by its steps. Lines and prints come on separate pipes, so that a step's end may be
// read before its prints, or after prints of the next step: an end counts once the prints before it are here, and later
// output waits for that.
import type { Clock, Timer } from '@methods/base/clock';
import { PrintFence } from './print-fence.ts';

/** How long the marks may take once the end of their step is here, since they were written before it. */
const MARK_MS_MAX = 2_000;
/** For the lines of steps after one that is not over. */
const LATE_CHARACTERS_MAX = 16 * 1024 * 1024;

export interface RunnerOutputEvents {
  readonly onLine: (line: string) => void;
  readonly onPrint: (source: 'stdout' | 'stderr', chunk: Buffer) => void;
  /** Output that arrives now belongs to no step. */
  readonly onOverflow: () => void;
  /** The prints of a step have no end: later prints look like a part of them. */
  readonly onLost: () => void;
}

export class RunnerOutput {
  private readonly fences: { readonly stdout: PrintFence; readonly stderr: PrintFence };
  /** Called at the present step's end. */
  private ending: (() => void) | null = null;
  private timer: Timer | null = null;
  private late: string[] = [];
  private lateCharacters = 0;

  /** `token`: what a mark consists of. */
  constructor(
    token: string,
    private readonly clock: Clock,
    private readonly events: RunnerOutputEvents,
  ) {
    const fence = (source: 'stdout' | 'stderr') =>
      new PrintFence(token, {
        onPrint: (chunk) => events.onPrint(source, chunk),
        onMark: () => this.marked(),
        onOverflow: () => events.onOverflow(),
      });
    this.fences = { stdout: fence('stdout'), stderr: fence('stderr') };
  }

  line(line: string): void {
    if (this.ending === null) return this.events.onLine(line);
    this.late.push(line);
    this.lateCharacters += line.length;
    if (this.lateCharacters <= LATE_CHARACTERS_MAX) return;
    this.late = [];
    this.lateCharacters = 0;
    this.events.onOverflow();
  }

  print(source: 'stdout' | 'stderr', chunk: Buffer): void {
    this.fences[source].push(chunk);
  }

  /**
   * The present step prints, up to its marks if it `isMarked`. Otherwise its prints are messages; those of a step behind
   * it may be read before its end.
   */
  begin(isMarked: boolean): void {
    for (const fence of [this.fences.stdout, this.fences.stderr]) {
      if (isMarked) fence.open();
      else fence.busy();
    }
  }

  /** `then` is called when the prints of the present step are here, at once as a rule. `isMarked`: marks end them. */
  end(isMarked: boolean, then: () => void): void {
    if (!this.isWaiting) return then();
    this.ending = then;
    // By the end of this turn, what was written before is read.
    if (!isMarked) setImmediate(() => this.finish(then));
    else this.timer = this.clock.after(MARK_MS_MAX, () => setImmediate(() => this.lost(then)));
  }

  /** The end of the present step no longer waits for its prints. */
  finish(then = this.ending): void {
    if (then === null || this.ending !== then) return;
    this.fences.stdout.giveUp();
    this.fences.stderr.giveUp();
    this.ended();
  }

  /** After a step that the runner waits behind. */
  skip(): void {
    this.fences.stdout.skip();
    this.fences.stderr.skip();
  }

  /** No step is under way. */
  idle(): void {
    this.fences.stdout.idle();
    this.fences.stderr.idle();
  }

  private get isWaiting(): boolean {
    return this.fences.stdout.isWaiting || this.fences.stderr.isWaiting;
  }

  private lost(then: () => void): void {
    if (this.ending === then) this.events.onLost();
    this.finish(then);
  }

  private marked(): void {
    if (!this.isWaiting) this.ended();
  }

  private ended(): void {
    const then = this.ending;
    if (then === null) return;
    this.ending = null;
    this.timer?.cancel();
    then();
    while (this.ending === null && this.late.length > 0) {
      const line = this.late.shift() as string;
      this.lateCharacters -= line.length;
      this.events.onLine(line);
    }
  }
}
