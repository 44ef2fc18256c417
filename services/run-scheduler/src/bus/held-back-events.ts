// Which runs' events must not go out directly, because an earlier one of the same run has not: the bus did not take it,
// it may have lost it, or an owner before us may not have sent it. The sweep sends them in order.
import type { OutboxEvent } from '../store/run-store.ts';

const RUNS_MAX = 10_000;

type EventOfRun = Pick<OutboxEvent, 'orgId' | 'runId' | 'seq'>;

interface HeldRun {
  readonly orgId: string;
  /** The last event held back. */
  readonly seq: number;
  /** The sweep it was held back in or after. */
  readonly sweep: number;
  /** The sweep that tried to send it last. */
  readonly tried: number;
}

export class HeldBackEvents {
  private readonly runs = new Map<string, HeldRun>();
  /** Shards with the sweep they were held back in or after. */
  private readonly shards = new Map<number, number>();
  /** More runs than are kept count: every run waits, until a sweep saw no such number again. */
  private everythingSince: number | null = null;
  private sweep = 0;

  get everything(): boolean {
    return this.everythingSince !== null;
  }

  has({ runId, shard }: Pick<OutboxEvent, 'runId' | 'shard'>): boolean {
    return this.everythingSince !== null || this.shards.has(shard) || this.runs.has(runId);
  }

  hold({ orgId, runId, seq }: EventOfRun): void {
    const known = this.runs.get(runId);
    const isNew = known === undefined || seq > known.seq;
    const tried = isNew ? -1 : known.tried;
    this.runs.set(runId, { orgId, seq: isNew ? seq : known.seq, sweep: this.sweep, tried });
    if (this.runs.size <= RUNS_MAX) return;
    this.everythingSince = this.sweep;
    this.runs.clear();
  }

  /** What stands in the outbox of these shards goes first. */
  holdShards(shards: readonly number[]): void {
    for (const shard of shards) this.shards.set(shard, this.sweep);
  }

  lost(shards: readonly number[]): void {
    for (const shard of shards) this.shards.delete(shard);
  }

  /** The bus has every event of the run up to this one. */
  sent({ runId, seq }: Pick<OutboxEvent, 'runId' | 'seq'>): void {
    if ((this.runs.get(runId)?.seq ?? seq + 1) <= seq) this.runs.delete(runId);
  }

  /** Runs that this sweep has not tried yet, of each organization so many at most as `roomOf` says. */
  untried(max: number, roomOf: (orgId: string) => number): (EventOfRun & HeldRun)[] {
    const next: (EventOfRun & HeldRun)[] = [];
    const ofOrg = new Map<string, number>();
    for (const [runId, held] of this.runs) {
      if (next.length >= max) break;
      const taken = ofOrg.get(held.orgId) ?? 0;
      if (held.tried === this.sweep || taken >= roomOf(held.orgId)) continue;
      ofOrg.set(held.orgId, taken + 1);
      next.push({ ...held, runId });
    }
    for (const { runId, ...held } of next) this.runs.set(runId, { ...held, tried: this.sweep });
    return next;
  }

  /** A sweep sends whatever the outbox holds now. */
  sweepBegins(): void {
    this.sweep++;
  }

  /** The present sweep came to the outbox's end: only what was held back since it began is held back still. */
  sweepEnds(): void {
    for (const [runId, held] of this.runs) {
      if (held.sweep < this.sweep && held.tried === this.sweep) this.runs.delete(runId);
    }
    for (const [shard, heldIn] of this.shards) if (heldIn < this.sweep) this.shards.delete(shard);
    if (this.everythingSince !== null && this.everythingSince < this.sweep) this.everythingSince = null;
  }
}
