// Runs many works of one request side by side, in slices of long work: while one waits for another process, the next
// one begins. So a request of a thousand works blocks the event loop no longer than a request of one.
import type { LongWork } from './long-work.ts';
import type { Steps } from './steps.ts';

export interface ManySteps {
  readonly count: number;
  /** Returns the work of a number from 0. It handles its own failures and throws nothing. */
  readonly begin: (n: number) => Steps<void>;
  /** Reports whether one more may begin beside `open` others that have not ended. One always may. */
  readonly mayBegin: (open: number) => boolean;
  /** There is no room for more of this organization's work: these works have not begun and will not begin. */
  readonly refused: (from: number, error: unknown) => void;
}

interface Resumed {
  readonly steps: Steps<void>;
  readonly go: () => IteratorResult<Promise<unknown> | undefined, void>;
}

/** Resolves when all have ended. */
export function manySteps(longWork: Pick<LongWork, 'run'>, orgId: string, works: ManySteps): Promise<void> {
  return new Many(longWork, orgId, works).run();
}

class Many {
  private next = 0;
  /** The number of works that have begun and not ended. */
  private open = 0;
  private end: number;
  private ready: Resumed[] = [];
  private wake: (() => void) | null = null;

  constructor(
    private readonly longWork: Pick<LongWork, 'run'>,
    private readonly orgId: string,
    private readonly works: ManySteps,
  ) {
    this.end = works.count;
  }

  async run(): Promise<void> {
    while (this.next < this.end || this.open > 0) {
      if (this.mayGoOn()) await this.inSlices();
      else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    }
  }

  private async inSlices(): Promise<void> {
    try {
      await this.longWork.run(this.orgId, 0, this.slices(), 0, false);
    } catch (error) {
      if (this.next < this.end) this.works.refused(this.next, error);
      this.end = this.next;
      // Completes the works that have begun: little is left of them.
      for (const _ of this.slices());
    }
  }

  private mayGoOn(): boolean {
    return this.ready.length > 0 || this.mayBegin();
  }

  private mayBegin(): boolean {
    return this.next < this.end && (this.open === 0 || this.works.mayBegin(this.open));
  }

  private *slices(): Generator<undefined, void> {
    while (this.mayGoOn()) {
      const resumed = this.ready;
      this.ready = [];
      for (const { steps, go } of resumed) {
        yield* this.goOn(steps, go());
        yield;
      }
      if (!this.mayBegin()) continue;
      this.open++;
      const steps = this.works.begin(this.next++);
      yield* this.goOn(steps, steps.next());
      yield;
    }
  }

  /** Runs until it waits or ends. */
  private *goOn(steps: Steps<void>, first: IteratorResult<Promise<unknown> | undefined, void>): Generator<undefined> {
    let step = first;
    while (!step.done) {
      if (step.value !== undefined) return this.waitFor(steps, step.value);
      yield;
      step = steps.next();
    }
    this.open--;
  }

  private waitFor(steps: Steps<void>, promise: Promise<unknown>): void {
    promise.then(
      (value) => this.resume({ steps, go: () => steps.next(value) }),
      (error: unknown) => this.resume({ steps, go: () => steps.throw(error) }),
    );
  }

  private resume(resumed: Resumed): void {
    this.ready.push(resumed);
    this.wake?.();
    this.wake = null;
  }
}
