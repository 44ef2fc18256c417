// Builds the one statement that writes runs: it locks the epochs of all shards touched, and applies only changes under
// a held epoch and an unchanged revision. In the same statement, side tables are updated for the runs that really
// changed.
import type { NewStep } from '../run/decision.ts';
import { type ArrayElement, arrayLiteral, type Column } from './array-literal.ts';
import {
  advancedStartColumns,
  deadlineColumns,
  deadlineOf,
  eventColumns,
  groupColumns,
  guardColumns,
  isAdvanced,
  memberColumns,
  queueColumns,
  type StepRow,
  startColumns,
  stepColumns,
  unfinishedColumns,
  unfinishedDelta,
  updateColumns,
} from './commit-sections.ts';
import { changingColumns, type QuestionRow, questionColumns, questionRowsOf } from './question-rows.ts';
import type { OutboxEvent, RunChange } from './run-store.ts';
import type { GroupChanges } from './running-groups.ts';

export interface CommitStatement {
  readonly text: string;
  readonly parameters: string[];
}

// "is true" constrains the planner: the membership tests stay hashed lookups instead of joins that compare each row
// with each, and a run is found by its id instead of through the index that begins with the organization (measured at
// 32 changes: 14 ms a commit without, 2.5 ms with).
const isHeld = '(t.shard in (select shard from held)) is true';
const isDone = '(t.run_id in (select run_id from done)) is true';

/** Sorts rows as other nodes do, so that two batches never deadlock. */
export function commitStatement(batch: readonly RunChange[], groups: GroupChanges): CommitStatement {
  const rows = sortIntoTables(batch);
  const parameters: string[] = [];
  const bind = <Row>(columns: readonly Column<Row>[], from: readonly Row[]): string => {
    const casts = columns.map((column) => {
      const values: ArrayElement[] = new Array(from.length);
      for (let i = 0; i < from.length; i++) values[i] = column.value(from[i] as Row);
      parameters.push(arrayLiteral(values));
      return `$${parameters.length}::${column.type}[]`;
    });
    return `unnest(${casts.join(', ')}) as t(${columns.map((c) => c.name).join(', ')})`;
  };
  const parts = [held(bind, batch)];
  if (rows.starts.length > 0) {
    // Conflicts: the key of a start is taken, or its content id.
    const columns = rows.starts.some(isAdvanced) ? advancedStartColumns : startColumns;
    parts.push(`starts as (
      insert into scheduler.runs (${names(columns)}) select ${expressions(columns)} from ${bind(columns, rows.starts)}
      where ${isHeld}
      on conflict do nothing returning run_id)`);
  }
  if (rows.updates.length > 0) {
    parts.push(`updates as (
      update scheduler.runs r set ${updateColumns.map((c) => `${c.name} = t.${c.name}`).join(', ')}
      from ${bind([...updateColumns, ...guardColumns], rows.updates)}
      where r.run_id = t.run_id and (r.org_id = t.org_id) is true and r.revision = t.revision - 1 and ${isHeld}
        and (t.due_ms = 0 or t.due_ms <= extract(epoch from clock_timestamp()) * 1000)
      returning r.run_id)`);
  }
  parts.push(`done as (${doneOf(rows)})`);
  if (rows.steps.length > 0) {
    parts.push(`kept_steps as (
      insert into scheduler.steps (${names(stepColumns)}) select ${expressions(stepColumns)} from ${bind(stepColumns, rows.steps)} where ${isDone}
      on conflict (run_id, org_id, path) do update set seq = excluded.seq, status = excluded.status,
        view_json = excluded.view_json, out_json = excluded.out_json, out_withheld = excluded.out_withheld, log_tail = excluded.log_tail)`);
  }
  if (rows.queued.length > 0) {
    parts.push(`queued as (
      insert into scheduler.queue (${names(queueColumns)}) select ${expressions(queueColumns)} from ${bind(queueColumns, rows.queued)} where ${isDone}
      on conflict (run_id, org_id) do update set queued_at_ms = excluded.queued_at_ms)`);
  }
  if (rows.dequeued.length > 0) {
    parts.push(`dequeued as (
      delete from scheduler.queue q using ${bind(keyColumns, rows.dequeued)}
      where q.run_id = t.run_id and (q.org_id = t.org_id) is true and ${isDone})`);
  }
  if (groups.begun.length > 0) {
    parts.push(`running as (
      insert into scheduler.running (group_id, org_id, run_ids)
      select t.group_id, t.org_id, array_agg(t.run_id) from ${bind(memberColumns, groups.begun)} where ${isDone}
      group by t.group_id, t.org_id)`);
  }
  if (groups.over.length > 0) {
    parts.push(`running_over as (
      delete from scheduler.running w using ${bind(groupColumns, groups.over)}
      where w.group_id = t.group_id and (w.org_id = t.org_id) is true)`);
  }
  if (rows.deadlines.length > 0) {
    parts.push(`deadlines_set as (
      insert into scheduler.deadlines (${names(deadlineColumns)}) select ${expressions(deadlineColumns)}
      from ${bind(deadlineColumns, rows.deadlines)} where ${isDone}
      on conflict (run_id, org_id) do update set question_id = excluded.question_id, wake_at_ms = excluded.wake_at_ms,
        bytes = excluded.bytes)`);
  }
  if (rows.deadlinesOver.length > 0) {
    parts.push(`deadlines_over as (
      delete from scheduler.deadlines d using ${bind(keyColumns, rows.deadlinesOver)}
      where d.run_id = t.run_id and (d.org_id = t.org_id) is true and ${isDone})`);
  }
  if (rows.questions.length > 0) {
    parts.push(`questions as (
      insert into scheduler.questions (${names(questionColumns)}) select ${expressions(questionColumns)}
      from ${bind(questionColumns, rows.questions)} where ${isDone}
      on conflict (run_id, org_id, question_id) do update set ${changingColumns.map((name) => `${name} = excluded.${name}`).join(', ')})`);
  }
  if (rows.events.length > 0) {
    parts.push(`events as (
      insert into scheduler.outbox (${names(eventColumns)}) select ${expressions(eventColumns)} from ${bind(eventColumns, rows.events)} where ${isDone})`);
  }
  // Only its owner writes the row of a shard, so no two nodes wait for each other here.
  if (rows.counted.length > 0) {
    parts.push(`counted as (
      insert into scheduler.unfinished as u (org_id, shard, runs)
      select t.org_id, t.shard, sum(t.runs) from ${bind(unfinishedColumns, rows.counted)} where ${isDone}
      group by t.org_id, t.shard having sum(t.runs) <> 0
      on conflict (org_id, shard) do update set runs = u.runs + excluded.runs)`);
  }
  const text = `with ${parts.join(',\n')}
    select array(select shard from held) as held, array(select run_id from done) as done,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`;
  return { text, parameters };
}

type Bind = <Row>(columns: readonly Column<Row>[], from: readonly Row[]) => string;

const keyColumns: readonly Column<RunChange>[] = [
  { name: 'run_id', type: 'text', value: (c) => c.after.facts.runId },
  { name: 'org_id', type: 'text', value: (c) => c.after.facts.orgId },
];

function held(bind: Bind, batch: readonly RunChange[]): string {
  const epochs = new Map<string, { shard: number; epoch: number }>();
  for (const change of batch) {
    const shard = change.after.facts.shard;
    epochs.set(`${shard}/${change.epoch}`, { shard, epoch: change.epoch });
  }
  const columns: Column<{ shard: number; epoch: number }>[] = [
    { name: 'shard', type: 'smallint', value: (e) => e.shard },
    { name: 'epoch', type: 'bigint', value: (e) => e.epoch },
  ];
  return `held as materialized (
      select s.shard from scheduler.shards s
      where (s.shard, s.epoch) in (select t.shard, t.epoch from ${bind(columns, [...epochs.values()])})
      order by s.shard for share)`;
}

interface Tables {
  readonly starts: RunChange[];
  readonly updates: RunChange[];
  readonly steps: StepRow[];
  readonly queued: RunChange[];
  readonly dequeued: RunChange[];
  readonly deadlines: RunChange[];
  readonly deadlinesOver: RunChange[];
  readonly questions: QuestionRow[];
  readonly events: OutboxEvent[];
  readonly counted: RunChange[];
}

function sortIntoTables(batch: readonly RunChange[]): Tables {
  const tables: Tables = {
    starts: [],
    updates: [],
    steps: [],
    queued: [],
    dequeued: [],
    deadlines: [],
    deadlinesOver: [],
    questions: [],
    events: [],
    counted: [],
  };
  for (const change of batch) {
    const { before, after } = change;
    (before === null ? tables.starts : tables.updates).push(change);
    for (const step of lastOfEachPath(change.steps)) tables.steps.push({ run: after, step });
    if (after.status === 'queued') tables.queued.push(change);
    else if (before?.status === 'queued') tables.dequeued.push(change);
    if (deadlineOf(after) !== null) tables.deadlines.push(change);
    else if (deadlineOf(before) !== null) tables.deadlinesOver.push(change);
    tables.questions.push(...questionRowsOf(change));
    tables.events.push(...change.events);
    if (unfinishedDelta(change) !== 0) tables.counted.push(change);
  }
  tables.starts.sort(byKey);
  tables.updates.sort(byRunId);
  return tables;
}

/** One statement cannot write a row twice, so a worker that reports a step twice would fail the whole batch. */
function lastOfEachPath(steps: readonly NewStep[]): Iterable<NewStep> {
  return steps.length < 2 ? steps : new Map(steps.map((step) => [step.summary.path, step])).values();
}

function byKey(a: RunChange, b: RunChange): number {
  const [x, y] = [a.after.facts, b.after.facts];
  if (x.orgId !== y.orgId) return x.orgId < y.orgId ? -1 : 1;
  return Buffer.compare(x.idempotencyHash, y.idempotencyHash);
}

function byRunId(a: RunChange, b: RunChange): number {
  return a.after.facts.runId < b.after.facts.runId ? -1 : 1;
}

function doneOf(rows: Tables): string {
  const parts: string[] = [];
  if (rows.starts.length > 0) parts.push('select run_id from starts');
  if (rows.updates.length > 0) parts.push('select run_id from updates');
  return parts.join(' union all ');
}

function names<Row>(columns: readonly Column<Row>[]): string {
  return columns.map((c) => c.name).join(', ');
}

function expressions<Row>(columns: readonly Column<Row>[]): string {
  return columns.map((c) => c.sql ?? `t.${c.name}`).join(', ');
}
