// The queue's rows in memory, in place of the store's pages: a test says when a page arrives, or that it fails.
import type { QueueCursor, QueueEntry, QueueKey, RunStore } from '../store/run-store.ts';

interface AskedPage {
  readonly arrive: () => void;
  readonly fail: () => void;
}

export class QueuedPages {
  rows: QueueEntry[] = [];
  /** Pages that were asked for and have not arrived; only while `held`. */
  readonly asked: AskedPage[] = [];
  held = false;
  pagesRead = 0;
  looks = 0;
  looksFail = false;
  /** Queues that have no rows, whatever stands in `rows`. */
  emptyFor: (key: QueueKey) => boolean = () => false;

  /** All a queue asks of the store. */
  get store(): RunStore {
    const queuesNotEmpty: RunStore['queuesNotEmpty'] = async (keys) => {
      this.looks++;
      if (this.looksFail) throw new Error('lost');
      return this.rows.length === 0 ? [] : keys.filter((key) => !this.emptyFor(key));
    };
    return { queuePage: this.queuePage.bind(this), queuesNotEmpty } as unknown as RunStore;
  }

  /** Rows are taken as they stand when the page is asked for, as a statement's snapshot does. */
  private queuePage(key: QueueKey, after: QueueCursor, shards: readonly number[], limit: number) {
    this.pagesRead++;
    const page = this.rows
      .filter((row) => !this.emptyFor(key) && shards.includes(row.shard) && isAfter(row, after))
      .sort((a, b) => (isAfter(a, b) ? 1 : -1))
      .slice(0, limit);
    if (!this.held) return Promise.resolve(page);
    return new Promise<QueueEntry[]>((resolve, reject) => {
      this.asked.push({ arrive: () => resolve(page), fail: () => reject(new Error('lost')) });
    });
  }
}

function isAfter(row: QueueEntry, { queuedAtMs, runId }: QueueCursor): boolean {
  return row.queuedAtMs > queuedAtMs || (row.queuedAtMs === queuedAtMs && row.runId > runId);
}
