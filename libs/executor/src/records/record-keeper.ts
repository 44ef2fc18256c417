// Sends step records in order and holds the newest ones back, so that at the run's end they are sent with the end.
// Before a step acts, everything before it must be acknowledged, so that no finished step runs again. Steps that only
// compute may run again, so several in a row need no acknowledgement between them.
import type { RunJournal, StepEnd } from '../run-outcome.ts';

/** The maximum of held records of computing steps, and of the characters of their outs. */
const HELD_MAX = 16;
const HELD_CHARACTERS_MAX = 64 * 1024;

interface Held {
  readonly record: StepEnd;
  /** Its step only computed. */
  readonly computed: boolean;
}

export class RecordKeeper {
  private held: Held[] = [];
  private heldCharacters = 0;
  /** Sent and not acknowledged yet. */
  private readonly open = new Set<Promise<void>>();
  private refused = false;
  private lanes = 0;
  /** Branches have run side by side at some time. */
  branched = false;

  constructor(private readonly journal: RunJournal) {}

  /** `computed`: the step only computes, so that it may run again. */
  add(record: StepEnd, computed = false): void {
    if (!computed) this.flush();
    this.held.push({ record, computed });
    this.heldCharacters += record.outJson.length;
    // Beside running branches, no further record may follow for a long time.
    if (this.lanes > 0) this.flush();
  }

  /** Every record is acknowledged, so that there is nothing to wait for. */
  get settled(): boolean {
    return this.held.length === 0 && this.open.size === 0 && !this.refused;
  }

  /**
   * Reports whether a step that only computes may run: what acted before it is sent. False: settle first, since much is
   * held, branches are running, or the run is no longer ours.
   */
  mayCompute(): boolean {
    if (this.held.some(({ computed }) => !computed)) this.flush();
    const { length } = this.held;
    return !this.refused && this.lanes === 0 && length < HELD_MAX && this.heldCharacters < HELD_CHARACTERS_MAX;
  }

  /** Resolves when every record is acknowledged; rejects when the run is no longer ours. */
  settle(): Promise<void> {
    this.flush();
    return this.acknowledged();
  }

  /** As settle, but keeps the held record. */
  async acknowledged(): Promise<void> {
    if (this.open.size > 0) await Promise.all(this.open);
    if (this.refused) throw new Error('a record of this run was refused');
  }

  /** During `work`, records are sent at once: branches of the walk run side by side. */
  async branching<T>(work: () => Promise<T>): Promise<T> {
    this.lanes++;
    this.branched = true;
    try {
      return await work();
    } finally {
      this.lanes--;
    }
  }

  flush(): void {
    const held = this.held;
    this.held = [];
    this.heldCharacters = 0;
    for (const { record } of held) this.watch(this.journal.stepEnded(record));
  }

  /** Sends every record but the last one, which goes with the outcome. */
  takeLast(): { lastRecord?: StepEnd } {
    const last = this.held.pop();
    this.flush();
    return last === undefined ? {} : { lastRecord: last.record };
  }

  private watch(acknowledged: Promise<void>): void {
    // settle() reports a refusal, also to the branches that did not wait for this record.
    const watched = acknowledged.then(
      () => {
        this.open.delete(watched);
      },
      () => {
        this.refused = true;
        this.open.delete(watched);
      },
    );
    this.open.add(watched);
  }
}
