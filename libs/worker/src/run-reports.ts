// What one run tells its owner: numbered, in order, kept until acknowledged and repeated on a new stream or when no
// answer comes. A refusal ends the run here.
import type { Clock } from '@methods/base/clock';
import { fitsMessage } from './report-size.ts';
import type { WorkerItem } from './scheduler-link.ts';

/** The run is no longer this worker's: another attempt holds it, or it has ended. */
export class RunTaken extends Error {
  override readonly name = 'RunTaken';
}

/** Not sent, and its number is still free. */
export class ReportTooLarge extends Error {
  override readonly name = 'ReportTooLarge';
}

interface Pending {
  readonly seq: number;
  readonly item: WorkerItem;
  sentAtMs: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const REPEAT_MS = 3_000;

export class RunReports {
  private readonly pending: Pending[] = [];
  private lastSeq = 0;
  private ended: Error | null = null;

  constructor(
    private readonly send: (item: WorkerItem) => boolean,
    private readonly clock: Clock,
  ) {}

  /**
   * `make` gets the report's number; resolves when the owner has recorded it, rejects when it never will.
   * @throws ReportTooLarge at once.
   */
  report(make: (seq: number) => WorkerItem): Promise<void> {
    if (this.ended !== null) return Promise.reject(this.ended);
    const seq = this.lastSeq + 1;
    const item = make(seq);
    if (!fitsMessage(item)) throw new ReportTooLarge('a report is larger than a message');
    this.lastSeq = seq;
    const recorded = new Promise<void>((resolve, reject) => {
      this.pending.push({ seq, item, sentAtMs: this.clock.monotonicMs(), resolve, reject });
      this.send(item);
    });
    // Nobody waits for it any more when a later report of the run could not be made.
    recorded.catch(() => {});
    return recorded;
  }

  acknowledged(seq: number): void {
    while (this.pending.length > 0 && (this.pending[0]?.seq ?? 0) <= seq) this.pending.shift()?.resolve();
  }

  end(error: Error): void {
    this.ended = error;
    for (const { reject } of this.pending.splice(0)) reject(error);
  }

  /**
   * The owner will never record report `seq`: it and what followed it are dropped, and the next report gets its number.
   * False when it does not wait any more.
   */
  drop(seq: number, error: Error): boolean {
    const at = this.pending.findIndex((pending) => pending.seq === seq);
    if (at === -1) return false;
    for (const { reject } of this.pending.splice(at)) reject(error);
    this.lastSeq = seq - 1;
    return true;
  }

  /** A new stream: everything again, in order. */
  repeatAll(): void {
    for (const pending of this.pending) this.repeat(pending);
  }

  /** Called on a coarse tick: reports whose answer is overdue go out again, and with one all that follow it. */
  repeatOverdue(): void {
    const first = this.pending[0];
    if (first !== undefined && this.clock.monotonicMs() - first.sentAtMs > REPEAT_MS) this.repeatAll();
  }

  private repeat(pending: Pending): void {
    pending.sentAtMs = this.clock.monotonicMs();
    this.send(pending.item);
  }
}
