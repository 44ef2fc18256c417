// Sends step records in order and holds the newest one back until another follows: at the run's end it is sent with the
// end. Before a step acts, everything before it must be acknowledged, so that no finished step runs again.
import type { RunJournal, StepEnd } from '../run-outcome.ts';

export class RecordKeeper {
  private held: StepEnd | null = null;
  /** Sent and not acknowledged yet. */
  private readonly open = new Set<Promise<void>>();
  private refused = false;
  private lanes = 0;
  /** Branches have run side by side at some time. */
  branched = false;

  constructor(private readonly journal: RunJournal) {}

  add(record: StepEnd): void {
    this.flush();
    this.held = record;
    // Beside running branches, no further record may follow for a long time.
    if (this.lanes > 0) this.flush();
  }

  /** Every record is acknowledged, so that there is nothing to wait for. */
  get settled(): boolean {
    return this.held === null && this.open.size === 0 && !this.refused;
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
    if (this.held === null) return;
    const record = this.held;
    this.held = null;
    this.watch(this.journal.stepEnded(record));
  }

  /** The record that was not sent, for the outcome. */
  takeLast(): { lastRecord?: StepEnd } {
    const last = this.held;
    this.held = null;
    return last === null ? {} : { lastRecord: last };
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
