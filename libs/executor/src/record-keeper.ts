// Sends step records in order and holds the newest one back until something follows it: at the run's end it travels
// with the end. Before a step acts, everything before it must be acknowledged, so that no finished step runs again.
import type { RunJournal, StepEnd } from './run-outcome.ts';

export class RecordKeeper {
  private held: StepEnd | null = null;
  private sent: Promise<void>[] = [];

  constructor(private readonly journal: RunJournal) {}

  add(record: StepEnd): void {
    this.send();
    this.held = record;
  }

  /** Resolves when every record is acknowledged; rejects when the run is no longer ours. */
  async settle(): Promise<void> {
    this.send();
    if (this.sent.length === 0) return;
    const sent = this.sent;
    this.sent = [];
    await (sent.length === 1 ? sent[0] : Promise.all(sent));
  }

  /** The record that was not sent, for the outcome. */
  takeLast(): { lastRecord?: StepEnd } {
    const last = this.held;
    this.held = null;
    return last === null ? {} : { lastRecord: last };
  }

  private send(): void {
    if (this.held === null) return;
    const acknowledged = this.journal.stepEnded(this.held);
    this.held = null;
    // Awaited in settle(); until then a refusal must not count as unhandled.
    acknowledged.catch(() => {});
    this.sent.push(acknowledged);
  }
}
