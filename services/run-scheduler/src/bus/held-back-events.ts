// Which runs' events must not go out directly, because an earlier one of the same run has not: the bus did not take it,
// or an owner before us may not have sent it. The sweep sends them in order.
import type { OutboxEvent } from '../store/run-store.ts';

const RUNS_MAX = 10_000;

type EventOfRun = Pick<OutboxEvent, 'runId' | 'seq'>;

export class HeldBackEvents {
  /** Of each run the last event held back, and the sweep it was held back in or after. */
  private readonly runs = new Map<string, { readonly seq: number; readonly sweep: number }>();
  private readonly shards = new Set<number>();
  /** More runs than are kept count: every run waits, until a sweep saw no such number again. */
  private everythingSince: number | null = null;
  private sweep = 0;

  get any(): boolean {
    return this.everythingSince !== null || this.shards.size > 0 || this.runs.size > 0;
  }

  has({ runId, shard }: Pick<OutboxEvent, 'runId' | 'shard'>): boolean {
    return this.everythingSince !== null || this.shards.has(shard) || this.runs.has(runId);
  }

  hold({ runId, seq }: EventOfRun): void {
    this.runs.set(runId, { seq: Math.max(seq, this.runs.get(runId)?.seq ?? 0), sweep: this.sweep });
    if (this.runs.size <= RUNS_MAX) return;
    this.everythingSince = this.sweep;
    this.runs.clear();
  }

  /** What the owners before left in the outbox of these shards goes first. */
  taken(shards: readonly number[]): void {
    for (const shard of shards) this.shards.add(shard);
  }

  lost(shards: readonly number[]): void {
    for (const shard of shards) this.shards.delete(shard);
  }

  /** The bus has every event of the run up to this one. */
  sent({ runId, seq }: EventOfRun): void {
    if ((this.runs.get(runId)?.seq ?? seq + 1) <= seq) this.runs.delete(runId);
  }

  /**
   * A sweep begins, which sends whatever the outbox holds now. The function returned is called when it came to the
   * outbox's end: then only what was held back since is held back still.
   */
  sweepBegins(): () => void {
    const sweep = ++this.sweep;
    const shards = [...this.shards];
    return () => {
      for (const [runId, held] of this.runs) if (held.sweep < sweep) this.runs.delete(runId);
      if (this.everythingSince !== null && this.everythingSince < sweep) this.everythingSince = null;
      this.lost(shards);
    };
  }
}
