// The queue's rows in memory, in place of the store's statements: a test decides when a statement returns or fails.
import type { OrgId } from '@methods/base/ids';
import type { QueueCursor, QueueEntry, QueueKey, QueueStretch, RunStore } from '../store/run-store.ts';

interface AskedPage {
  readonly orgId: OrgId;
  readonly arrive: () => void;
  readonly fail: () => void;
}

export class QueuedPages {
  rows: QueueEntry[] = [];
  /** Statements that were sent and have not returned; only while `held`. */
  readonly asked: AskedPage[] = [];
  held = false;
  pagesRead = 0;
  /** How many queues each statement for heads was for. */
  readonly headsRead: number[] = [];
  atOnceMax = 0;
  /** Queues that return no rows, in spite of `rows`. */
  emptyFor: (key: QueueKey) => boolean = () => false;
  /** Rows one statement looks at, of any shard. */
  stretchMax = 4_096;
  private atOnce = 0;

  /** The statements of a queue. */
  get store(): RunStore {
    return {
      queuePage: (key: QueueKey, after: QueueCursor, shards: readonly number[], limit: number) => {
        this.pagesRead++;
        return this.statement(key, () => this.stretch(key, after, shards, limit));
      },
      queueHeads: (keys: readonly QueueKey[], shards: readonly number[]) => {
        this.headsRead.push(keys.length);
        const [first] = keys;
        if (first === undefined) throw new Error('a statement for no queue');
        return this.statement(first, () =>
          keys.map((key) => this.stretch(key, { queuedAtMs: 0, runId: '' }, shards, 1)),
        );
      },
    } as unknown as RunStore;
  }

  private stretch(key: QueueKey, after: QueueCursor, shards: readonly number[], limit: number): QueueStretch {
    const rows = this.rows
      .filter((row) => !this.emptyFor(key) && isAfter(row, after))
      .sort((a, b) => (isAfter(a, b) ? 1 : -1))
      .slice(0, this.stretchMax);
    const entries = rows.filter((row) => shards.includes(row.shard)).slice(0, limit);
    if (entries.length === limit) return { entries, end: entries.at(-1) ?? null };
    return { entries, end: rows.length === this.stretchMax ? (rows.at(-1) ?? null) : null };
  }

  /** Copies the rows when the statement is sent, like its snapshot. */
  private async statement<Result>({ orgId }: QueueKey, read: () => Result): Promise<Result> {
    this.atOnceMax = Math.max(this.atOnceMax, ++this.atOnce);
    try {
      const result = read();
      if (!this.held) return result;
      return await new Promise<Result>((resolve, reject) => {
        this.asked.push({ orgId, arrive: () => resolve(result), fail: () => reject(new Error('lost')) });
      });
    } finally {
      this.atOnce--;
    }
  }
}

function isAfter(row: QueueEntry, { queuedAtMs, runId }: QueueCursor): boolean {
  return row.queuedAtMs > queuedAtMs || (row.queuedAtMs === queuedAtMs && row.runId > runId);
}
