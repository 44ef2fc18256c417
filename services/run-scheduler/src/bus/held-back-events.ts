// Which runs' events must not go out directly, because an earlier one of the same run has not: the bus did not take it,
// it may have lost it, or an owner before us may not have sent it. The sweep sends them in order.
import type { OutboxEvent } from '../store/run-store.ts';

const RUNS_MAX = 10_000;

type EventOfRun = Pick<OutboxEvent, 'runId' | 'seq'>;

export class HeldBackEvents {
  /** Of each run the last event held back, and the sweep it was held back in or after. */
  private readonly runs = new Map<string, { readonly seq: number; readonly sweep: number }>();
  /** Shards with the sweep they were held back in or after. */
  private readonly shards = new Map<number, number>();
  /** More runs than are kept count: every run waits, until a sweep saw no such number again. */
  private everythingSince: number | null = null;
  private sweep = 0;
  /** Runs with an event that failed since the sweep began, which may be past it already. */
  private readonly stuck = new Set<string>();

  get any(): boolean {
    return this.everythingSince !== null || this.shards.size > 0 || this.runs.size > 0;
  }

  has({ runId, shard }: Pick<OutboxEvent, 'runId' | 'shard'>): boolean {
    return this.everythingSince !== null || this.shards.has(shard) || this.runs.has(runId);
  }

  /** The present sweep must send nothing more of this run: an earlier event of it failed since the sweep began. */
  isStuck(runId: string): boolean {
    return this.stuck.size >= RUNS_MAX || this.stuck.has(runId);
  }

  hold({ runId, seq }: EventOfRun): void {
    this.runs.set(runId, { seq: Math.max(seq, this.runs.get(runId)?.seq ?? 0), sweep: this.sweep });
    if (this.runs.size <= RUNS_MAX) return;
    this.everythingSince = this.sweep;
    this.runs.clear();
  }

  /** The bus did not take it. */
  failed(event: EventOfRun): void {
    this.hold(event);
    if (this.stuck.size < RUNS_MAX) this.stuck.add(event.runId);
  }

  /** What stands in the outbox of these shards goes first. */
  holdShards(shards: readonly number[]): void {
    for (const shard of shards) this.shards.set(shard, this.sweep);
  }

  lost(shards: readonly number[]): void {
    for (const shard of shards) this.shards.delete(shard);
  }

  /** The bus has every event of the run up to this one. */
  sent({ runId, seq }: EventOfRun): void {
    if ((this.runs.get(runId)?.seq ?? seq + 1) <= seq) this.runs.delete(runId);
  }

  /** A sweep sends whatever the outbox holds now. */
  sweepBegins(): void {
    this.sweep++;
    this.stuck.clear();
  }

  /** The present sweep came to the outbox's end: only what was held back since it began is held back still. */
  sweepEnds(): void {
    for (const [runId, held] of this.runs) if (held.sweep < this.sweep) this.runs.delete(runId);
    for (const [shard, heldIn] of this.shards) if (heldIn < this.sweep) this.shards.delete(shard);
    if (this.everythingSince !== null && this.everythingSince < this.sweep) this.everythingSince = null;
  }
}
