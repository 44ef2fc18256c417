// Sends one run's reports to its owner: numbered, in order, kept until acknowledged, and repeated on a new stream or
// when no acknowledgement arrives. A refusal ends the run on this worker. The last step's record travels in the report
// that follows it.
import type { Clock } from '@methods/base/clock';
import type { SchedulerLink, WorkerItem } from './scheduler-link.ts';

/** The run no longer belongs to this worker: another attempt holds it, or it has ended. */
export class RunTaken extends Error {
  override readonly name = 'RunTaken';
}

/** The report was not sent; its number is still free. */
export class ReportTooLarge extends Error {
  override readonly name = 'ReportTooLarge';
}

interface Pending {
  readonly seq: number;
  readonly item: WorkerItem;
  readonly bytes: number;
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
    private readonly link: Pick<SchedulerLink, 'send' | 'takesLastRecord'>,
    private readonly clock: Clock,
    /** Returns a report as it is sent. */
    private readonly sent: (item: WorkerItem) => WorkerItem = (item) => item,
  ) {}

  /**
   * Calls `make` with the report's number. Resolves when the owner has recorded the report, rejects when it never will.
   * @throws ReportTooLarge at once.
   */
  report(make: (seq: number) => WorkerItem): Promise<void> {
    if (this.ended !== null) return Promise.reject(this.ended);
    const recorded = this.add(make);
    this.sendFrom(this.pending.length - 1);
    return recorded;
  }

  /**
   * Reports the last step's record and what follows it. @throws ReportTooLarge at once; a record that fits is sent even
   * if the next report does not fit.
   */
  reportLast(record: (seq: number) => WorkerItem, end: (seq: number) => WorkerItem): Promise<unknown> {
    if (this.ended !== null) return Promise.reject(this.ended);
    const from = this.pending.length;
    const recorded = [this.add(record)];
    try {
      recorded.push(this.add(end));
    } finally {
      this.sendFrom(from);
    }
    return Promise.all(recorded);
  }

  acknowledged(seq: number): void {
    while (this.pending.length > 0 && (this.pending[0]?.seq ?? 0) <= seq) this.pending.shift()?.resolve();
  }

  end(error: Error): void {
    this.ended = error;
    for (const { reject } of this.pending.splice(0)) reject(error);
  }

  /**
   * The owner will never record report `seq`: drops it and all later ones, and frees its number for the next report.
   * Returns false when the report is no longer pending.
   */
  drop(seq: number, error: Error): boolean {
    const at = this.pending.findIndex((pending) => pending.seq === seq);
    if (at === -1) return false;
    for (const { reject } of this.pending.splice(at)) reject(error);
    this.lastSeq = seq - 1;
    return true;
  }

  /** Sends everything again, in order, on a new stream. */
  repeatAll(): void {
    this.sendFrom(0);
  }

  /** Called on a coarse tick: when the first acknowledgement is overdue, sends it and all later reports again. */
  repeatOverdue(): void {
    const first = this.pending[0];
    if (first !== undefined && this.clock.monotonicMs() - first.sentAtMs > REPEAT_MS) this.repeatAll();
  }

  private add(make: (seq: number) => WorkerItem): Promise<void> {
    const seq = this.lastSeq + 1;
    const item = this.sent(make(seq));
    const bytes = reportBytes(item);
    if (bytes > REPORT_BYTES_MAX) throw new ReportTooLarge('a report is larger than a message');
    this.lastSeq = seq;
    const recorded = new Promise<void>((resolve, reject) => {
      this.pending.push({ seq, item, bytes, sentAtMs: 0, resolve, reject });
    });
    // Avoids an unhandled rejection when a later report of the run was too large and the caller stopped waiting.
    recorded.catch(() => {});
    return recorded;
  }

  private sendFrom(first: number): void {
    const sentAtMs = this.clock.monotonicMs();
    for (let at = first; at < this.pending.length; at++) {
      const report = this.pending[at] as Pending;
      const next = this.pending[at + 1];
      const both = next === undefined ? null : joined(report, next, this.link.takesLastRecord);
      report.sentAtMs = sentAtMs;
      if (both !== null && next !== undefined) {
        next.sentAtMs = sentAtMs;
        at++;
      }
      this.link.send(both ?? report.item);
    }
  }
}

/** Joins two reports into one message. Null when they must be sent separately. */
function joined(record: Pending, next: Pending, isTaken: boolean): WorkerItem | null {
  const { item: last } = record.item;
  const { item: end } = next.item;
  if (end?.case !== 'finish' && end?.case !== 'ask' && end?.case !== 'sleep') return null;
  const fits = isTaken && record.bytes + next.bytes <= REPORT_BYTES_MAX;
  const lastRecord = fits && last?.case === 'stepRecord' ? last.value : undefined;
  // Writes into the existing message: a copy of either costs more than the saved report.
  Object.assign(end.value, { lastRecord });
  return lastRecord === undefined ? null : next.item;
}

// Measures reports. A report larger than a message would end its stream, and every later one since it is repeated: no
// run of the worker could report any more.

/** A message carries 4 MiB. */
const REPORT_BYTES_MAX = (4 << 20) - (64 << 10);
/** An upper bound for the tag, length or number of one field. */
const FIELD_BYTES = 16;

/** An upper bound of the encoded size. */
function reportBytes(item: WorkerItem): number {
  // A character takes at most 3 bytes of UTF-8, so most reports need no exact count.
  const most = bytesOf(item, (text) => text.length * 3);
  return most <= REPORT_BYTES_MAX ? most : bytesOf(item, (text) => Buffer.byteLength(text));
}

function bytesOf(value: unknown, measure: (text: string) => number): number {
  if (typeof value === 'string') return measure(value);
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 0;
  for (const name in value) bytes += FIELD_BYTES + bytesOf((value as Record<string, unknown>)[name], measure);
  return bytes;
}
