// Tracks which rows of scheduler.running list the running runs of this node. A few runs of one organization and shard
// that are claimed in one commit share a row. When none of them runs any more, a later commit removes the row, together
// with many others. A leftover row lists runs that are not running: a reader checks the runs, and the next owner drops
// the row.
import { newRunId, type OrgId, type RunId } from '@methods/base/ids';
import type { RunChange } from './run-store.ts';

/** At most this many runs are read for each running one. */
const MEMBERS_MAX = 8;
/** Rows are dropped in this number: the section of the statement costs more than its rows. */
const OVER_MIN = 32;
const OVER_MAX = 256;

export interface Group {
  readonly groupId: string;
  readonly orgId: OrgId;
  readonly shard: number;
  /** The number of its runs that are running. */
  running: number;
}

export interface GroupMember {
  readonly runId: RunId;
  readonly group: Group;
}

/** The effect of one commit on the groups. */
export interface GroupChanges {
  readonly begun: readonly GroupMember[];
  readonly over: readonly Group[];
}

/** A run as a group lists it. */
export interface ListedRun {
  readonly groupId: string;
  readonly orgId: OrgId;
  readonly shard: number;
  readonly runId: RunId;
  readonly isRunning: boolean;
}

export class RunningGroups {
  private readonly byRun = new Map<string, Group>();
  private readonly over = new Set<Group>();
  private reads = 0;
  /** Runs that stopped while groups are read, so that the rows read are out of date for them. */
  private readonly stoppedMeanwhile = new Set<string>();

  constructor(private readonly overMin = OVER_MIN) {}

  /** Changes nothing until `committed` is called. */
  changes(batch: readonly RunChange[]): GroupChanges {
    const begun: GroupMember[] = [];
    const open = new Map<string, { readonly group: Group; members: number }>();
    for (const change of batch) {
      if (!begins(change)) continue;
      const { runId, orgId, shard } = change.after.facts;
      const key = `${shard}/${orgId}`;
      let last = open.get(key);
      if (last === undefined || last.members === MEMBERS_MAX) {
        last = { group: { groupId: newRunId(shard), orgId, shard, running: 0 }, members: 0 };
        open.set(key, last);
      }
      last.members++;
      begun.push({ runId, group: last.group });
    }
    return { begun, over: this.over.size < this.overMin ? [] : [...this.over].slice(0, OVER_MAX) };
  }

  /** A commit without a reply is not reported here: at worst, one extra row remains. */
  committed(batch: readonly RunChange[], { begun, over }: GroupChanges, done: ReadonlySet<string>): void {
    for (const group of over) this.over.delete(group);
    for (const { runId, group } of begun) if (done.has(runId)) this.add(runId, group);
    for (const change of batch) {
      const { runId } = change.after.facts;
      if (!stops(change) || !done.has(runId)) continue;
      if (this.reads > 0) this.stoppedMeanwhile.add(runId);
      const group = this.byRun.get(runId);
      if (group === undefined) continue;
      this.byRun.delete(runId);
      group.running--;
      if (group.running === 0) this.over.add(group);
    }
  }

  /**
   * Adopts the groups that an earlier owner listed. A group has ended permanently when none of its runs was running
   * when read, since a run that is claimed again joins another group. Uncertain runs count as running.
   */
  async adopt(read: () => Promise<readonly ListedRun[]>): Promise<void> {
    this.reads++;
    try {
      const groups = new Map<string, Group>();
      const idle = new Set<string>();
      for (const { groupId, orgId, shard, runId, isRunning } of await read()) {
        const known = groups.get(groupId);
        const group = known ?? { groupId, orgId, shard, running: 0 };
        if (known === undefined) idle.add(groupId);
        groups.set(groupId, group);
        if (!isRunning) continue;
        idle.delete(groupId);
        const isOurs = this.byRun.get(runId)?.groupId === groupId;
        if (!isOurs && !this.stoppedMeanwhile.has(runId)) this.add(runId, group);
      }
      for (const group of groups.values()) if (idle.has(group.groupId)) this.over.add(group);
    } finally {
      this.reads--;
      if (this.reads === 0) this.stoppedMeanwhile.clear();
    }
  }

  /** Another node has these shards. */
  forget(shards: ReadonlySet<number>): void {
    for (const [runId, { shard }] of this.byRun) if (shards.has(shard)) this.byRun.delete(runId);
    for (const group of this.over) if (shards.has(group.shard)) this.over.delete(group);
  }

  private add(runId: RunId, group: Group): void {
    group.running++;
    this.byRun.set(runId, group);
  }
}

function begins({ before, after }: RunChange): boolean {
  return after.status === 'running' && before?.status !== 'running';
}

function stops({ before, after }: RunChange): boolean {
  return before?.status === 'running' && after.status !== 'running';
}
