// Tracks the runs whose events must not be sent directly, because an earlier event of the same run has not been: the
// bus did not take it or may have lost it, an earlier owner may not have sent it, or its organization has enough events
// on the bus. The sweep sends them in order.
import type { OrgId, RunId } from '@methods/base/ids';
import type { OutboxEvent } from '../store/run-store.ts';

const RUNS_MAX = 10_000;
/** Per organization, so that one organization does not delay the events of all. */
const ORG_RUNS_MAX = 500;
const ORGS_MAX = 1_000;
/** An event that a sweep could not send is due again after this at most. */
export const AGAIN_MAX_MS = 300_000;

type EventOfRun = Pick<OutboxEvent, 'orgId' | 'runId' | 'seq'>;

interface HeldRun {
  readonly orgId: OrgId;
  /** The last event held back. */
  readonly seq: number;
  /** The sweep during or after which it was held back. */
  readonly sweep: number;
  /** The last sweep that tried to send it. */
  readonly tried: number;
}

interface HeldOrg {
  /** Start of the first sweep after it was last held back; null: no sweep has begun since. */
  readonly sinceMs: number | null;
  /** All of its events that are held back are due after this. */
  readonly dueWithinMs: number;
}

export class HeldBackEvents {
  private readonly runs = new Map<RunId, HeldRun>();
  private readonly runsOfOrg = new Map<OrgId, number>();
  /** Organizations with more held runs than are remembered. */
  private readonly orgs = new Map<OrgId, HeldOrg>();
  /** Shards with the sweep during or after which they were held back. */
  private readonly shards = new Map<number, number>();
  /** There are more held runs than are remembered: every run waits until a sweep finds fewer. */
  private everythingSince: number | null = null;
  private sweep = 0;
  private sweepBeganMs = 0;

  get everything(): boolean {
    return this.everythingSince !== null;
  }

  has({ orgId, runId, shard }: Pick<OutboxEvent, 'orgId' | 'runId' | 'shard'>): boolean {
    return this.everythingSince !== null || this.shards.has(shard) || this.orgs.has(orgId) || this.runs.has(runId);
  }

  /** Reports whether every run of the organization waits, even those that are not remembered by name. */
  hasAllOf(orgId: OrgId): boolean {
    return this.orgs.has(orgId);
  }

  /** `dueWithinMs`: its row is due after this at most. */
  hold({ orgId, runId, seq }: EventOfRun, dueWithinMs = AGAIN_MAX_MS): void {
    const known = this.runs.get(runId);
    if (known === undefined) {
      const ofOrg = this.runsOfOrg.get(orgId) ?? 0;
      if (ofOrg >= ORG_RUNS_MAX) return this.holdOrg(orgId, dueWithinMs);
      this.runsOfOrg.set(orgId, ofOrg + 1);
    }
    const isNew = known === undefined || seq > known.seq;
    const tried = isNew ? -1 : known.tried;
    this.runs.set(runId, { orgId, seq: isNew ? seq : known.seq, sweep: this.sweep, tried });
    if (this.runs.size > RUNS_MAX) this.holdEverything();
  }

  /** Sends the events in the outbox of these shards first. */
  holdShards(shards: readonly number[]): void {
    for (const shard of shards) this.shards.set(shard, this.sweep);
  }

  lost(shards: readonly number[]): void {
    for (const shard of shards) this.shards.delete(shard);
  }

  /** The bus has taken every event of the run up to this one. */
  sent({ runId, seq }: Pick<OutboxEvent, 'runId' | 'seq'>): void {
    const held = this.runs.get(runId);
    if (held !== undefined && held.seq <= seq) this.drop(held.orgId, runId);
  }

  /** Returns runs that this sweep has not tried yet, at most `roomOf` of each organization. */
  untried(max: number, roomOf: (orgId: OrgId) => number): (EventOfRun & HeldRun)[] {
    const next: (EventOfRun & HeldRun)[] = [];
    const ofOrg = new Map<OrgId, number>();
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

  /** A sweep begins, which sends everything that the outbox holds now. */
  sweepBegins(nowMs: number): void {
    this.sweep++;
    this.sweepBeganMs = nowMs;
    for (const [orgId, held] of this.orgs) {
      if (held.sinceMs === null) this.orgs.set(orgId, { ...held, sinceMs: nowMs });
    }
  }

  /** The present sweep reached the end of the outbox: only events held back since it began remain held back. */
  sweepEnds(): void {
    for (const [runId, held] of this.runs) {
      if (held.sweep < this.sweep && held.tried === this.sweep) this.drop(held.orgId, runId);
    }
    for (const [shard, heldIn] of this.shards) if (heldIn < this.sweep) this.shards.delete(shard);
    for (const [orgId, { sinceMs, dueWithinMs }] of this.orgs) {
      // Their events are not remembered by name: all of them were due in this sweep.
      if (sinceMs !== null && this.sweepBeganMs - sinceMs >= dueWithinMs) this.orgs.delete(orgId);
    }
    if (this.everythingSince !== null && this.everythingSince < this.sweep) this.everythingSince = null;
  }

  private holdOrg(orgId: OrgId, dueWithinMs: number): void {
    const known = this.orgs.get(orgId)?.dueWithinMs ?? 0;
    this.orgs.set(orgId, { sinceMs: null, dueWithinMs: Math.max(known, dueWithinMs) });
    if (this.orgs.size > ORGS_MAX) this.holdEverything();
  }

  private holdEverything(): void {
    this.everythingSince = this.sweep;
    this.runs.clear();
    this.runsOfOrg.clear();
  }

  private drop(orgId: OrgId, runId: RunId): void {
    this.runs.delete(runId);
    const left = (this.runsOfOrg.get(orgId) ?? 1) - 1;
    if (left > 0) this.runsOfOrg.set(orgId, left);
    else this.runsOfOrg.delete(orgId);
  }
}
