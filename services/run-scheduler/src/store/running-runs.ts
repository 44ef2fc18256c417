// Reads the running runs of shards that were taken, by the rows that list them (scheduler.running): an index of runs on
// their state would prevent heap-only updates. A node of the previous release lists nothing, so the runs of its shards
// are listed again from the runs themselves. A shard whose `listed_epoch` is its epoch has had no such owner since.
import { type OrgId, type RunId, runIdBound } from '@methods/base/ids';
import type { ShardEpoch } from '../shard/shard-lease.ts';
import { type ArrayElement, arrayLiteral } from './array-literal.ts';
import type { RunRow } from './run-columns.ts';
import { takenColumns, takenFromRow } from './run-row.ts';
import type { TakenRun } from './run-store.ts';
import type { ListedRun, RunningGroups } from './running-groups.ts';

type Read = <Row extends object>(text: string, parameters: string[]) => Promise<Row[]>;
type ListedRow = Partial<RunRow> & { group_id: string; listed_org: OrgId; of_shard: number; listed_run: RunId };

/** Shards whose running runs one statement reads. */
const AT_ONCE = 4;
/** No run id has a later time. */
const LATEST_MS = 2 ** 50 - 1;

// Shards of nodes of the previous release.
const unlistedQuery = `select shard, epoch from scheduler.shards
  where (shard, epoch) in (select * from unnest($1::smallint[], $2::bigint[])) and listed_epoch is distinct from epoch`;

// This node lists the runs that it commits meanwhile itself.
const listQuery = `with listed as materialized (
    select w.org_id, unnest(w.run_ids) as run_id
    from unnest($2::text[], $3::text[]) as s(from_id, to_id) join scheduler.running w
      on w.group_id >= s.from_id and w.group_id < s.to_id)
  insert into scheduler.running (group_id, org_id, run_ids)
  select r.run_id || '.' || r.revision, r.org_id, array[r.run_id]
  from unnest($1::smallint[], $2::text[], $3::text[]) as s(shard, from_id, to_id) join scheduler.runs r
    on r.shard = s.shard and r.run_id >= s.from_id and r.run_id < s.to_id and r.status = 'running'
  where ((r.run_id, r.org_id) in (select run_id, org_id from listed)) is not true
  on conflict (group_id, org_id) do nothing`;

// Locked in the order in which commits lock them.
const listedQuery = `with held as materialized (
    select shard from scheduler.shards where (shard, epoch) in (select * from unnest($1::smallint[], $2::bigint[]))
    order by shard for update)
  update scheduler.shards set listed_epoch = epoch where shard in (select shard from held)`;

const runningQuery = `select w.group_id, w.org_id as listed_org, s.shard as of_shard, m.run_id as listed_run,
    ${takenColumns.replaceAll(/\w+/g, 'r.$&')}
  from unnest($1::smallint[], $2::text[], $3::text[]) as s(shard, from_id, to_id)
  join scheduler.running w on w.group_id >= s.from_id and w.group_id < s.to_id
  cross join lateral unnest(w.run_ids) as m(run_id)
  left join scheduler.runs r on r.run_id = m.run_id and r.org_id = w.org_id and r.status = 'running'`;

/** Reads the running runs of shards that this node has just taken. */
export async function readRunning(
  read: Read,
  groups: RunningGroups,
  shards: readonly ShardEpoch[],
): Promise<TakenRun[]> {
  const runs = new Map<RunId, TakenRun>();
  const unlisted = await read<ShardEpoch>(unlistedQuery, withEpochs(shards));
  for (const some of chunksOf(unlisted)) {
    await read(listQuery, withBounds(some));
    await read(listedQuery, withEpochs(some));
  }
  for (const some of chunksOf(shards)) {
    await groups.adopt(async () => {
      const rows = await read<ListedRow>(runningQuery, withBounds(some));
      for (const row of rows) if (isRunning(row)) runs.set(row.run_id, takenFromRow(row));
      return rows.map(listedRun);
    });
  }
  return [...runs.values()];
}

function* chunksOf(shards: readonly ShardEpoch[]): Iterable<readonly ShardEpoch[]> {
  for (let from = 0; from < shards.length; from += AT_ONCE) yield shards.slice(from, from + AT_ONCE);
}

function isRunning(row: ListedRow): row is ListedRow & RunRow {
  return typeof row.run_id === 'string';
}

function listedRun(row: ListedRow): ListedRun {
  const { group_id: groupId, listed_org: orgId, of_shard: shard, listed_run: runId } = row;
  return { groupId, orgId, shard, runId, isRunning: isRunning(row) };
}

function withEpochs(shards: readonly ShardEpoch[]): string[] {
  return arrays(shards, [({ shard }) => shard, ({ epoch }) => epoch]);
}

/** The id of a run, and of a group, begins with its shard. */
function withBounds(shards: readonly ShardEpoch[]): string[] {
  const bound = (ms: number) => (of: ShardEpoch) => runIdBound(of.shard, ms);
  return arrays(shards, [({ shard }) => shard, bound(0), bound(LATEST_MS)]);
}

function arrays(shards: readonly ShardEpoch[], columns: readonly ((shard: ShardEpoch) => ArrayElement)[]): string[] {
  return columns.map((column) => arrayLiteral(shards.map(column)));
}
