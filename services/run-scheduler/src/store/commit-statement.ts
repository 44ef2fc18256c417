// Builds the one statement that writes runs: it locks the epochs of all shards touched, and applies only changes under
// a held epoch and an unchanged revision. In the same statement, side tables are updated for the runs that really
// changed.
import { LRUCache } from 'lru-cache';
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
  readonly parameters: ArrayElement[];
}

// "is true" constrains the planner: the membership tests stay hashed lookups instead of joins that compare each row
// with each, and a run is found by its id instead of through the index that begins with the organization (measured at
// 32 changes: 14 ms a commit without, 2.5 ms with).
const isHeld = '(t.shard in (select shard from held)) is true';
const isDone = '(t.run_id in (select run_id from done)) is true';

/** The text of each set of sections. The driver keeps statements by their text, and hashes each new one. */
const texts = new LRUCache<string, string>({ max: 500 });

/** Sorts rows as other nodes do, so that two batches never deadlock. */
export function commitStatement(batch: readonly RunChange[], groups: GroupChanges): CommitStatement {
  const parameters: ArrayElement[] = [];
  const sections = sectionsOf(batch, groups);
  const isSingle = sections.every(({ rows }) => rows === 1);
  let names = isSingle ? 'single ' : '';
  for (const section of sections) {
    names += `${section.name} `;
    section.bind(parameters, isSingle);
  }
  let text = texts.get(names);
  if (text === undefined) {
    text = textOf(sections, isSingle);
    texts.set(names, text);
  }
  return { text, parameters };
}

/** A part of the statement. Its text depends on its name only. */
interface Section {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: number;
  /** `isSingle`: binds the values of its one row in place of an array for each column. */
  bind(parameters: ArrayElement[], isSingle: boolean): void;
  /** `rows`: its rows, as a table `t` of the columns. */
  text(rows: string): string;
}

/** Returns no section if there are no rows. */
function section<Row>(
  name: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  text: (rows: string) => string,
): Section[] {
  if (rows.length === 0) return [];
  const bind = (parameters: ArrayElement[], isSingle: boolean) => {
    for (const column of columns) {
      if (isSingle) {
        parameters.push(column.value(rows[0] as Row) ?? null);
        continue;
      }
      const values: ArrayElement[] = new Array(rows.length);
      for (let i = 0; i < rows.length; i++) values[i] = column.value(rows[i] as Row);
      parameters.push(arrayLiteral(values));
    }
  };
  return [{ name, columns, rows: rows.length, bind, text }];
}

/** One row is given as values: an array for each of fifty columns costs Postgres two thirds of the statement. */
function textOf(sections: readonly Section[], isSingle: boolean): string {
  let bound = 0;
  const parts = sections.map(({ columns, text }) => {
    const casts = columns.map(({ type }) => `$${++bound}::${type}${isSingle ? '' : '[]'}`).join(', ');
    const rows = isSingle ? `(values (${casts}))` : `unnest(${casts})`;
    return text(`${rows} as t(${columns.map(({ name }) => name).join(', ')})`);
  });
  return `with ${parts.join(',\n')}
    select array(select shard from held) as held, array(select run_id from done) as done,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`;
}

function sectionsOf(batch: readonly RunChange[], groups: GroupChanges): Section[] {
  const rows = sortIntoTables(batch);
  const advanced = rows.starts.some(isAdvanced);
  const columns = advanced ? advancedStartColumns : startColumns;
  const changed = [...(rows.starts.length > 0 ? ['starts'] : []), ...(rows.updates.length > 0 ? ['updates'] : [])];
  const done = changed.map((name) => `select run_id from ${name}`).join(' union all ');
  return [
    ...section(
      'held',
      epochColumns,
      epochsOf(batch),
      (t) => `held as materialized (
      select s.shard from scheduler.shards s
      where (s.shard, s.epoch) in (select t.shard, t.epoch from ${t})
      order by s.shard for share)`,
    ),
    // Conflicts: the key of a start is taken, or its content id.
    ...section(
      advanced ? 'advanced starts' : 'starts',
      columns,
      rows.starts,
      (t) => `starts as (
      insert into scheduler.runs (${names(columns)}) select ${expressions(columns)} from ${t}
      where ${isHeld}
      on conflict do nothing returning run_id)`,
    ),
    ...section(
      'updates',
      guardedColumns,
      rows.updates,
      (t) => `updates as (
      update scheduler.runs r set ${updateColumns.map((c) => `${c.name} = t.${c.name}`).join(', ')}
      from ${t}
      where r.run_id = t.run_id and (r.org_id = t.org_id) is true and r.revision = t.revision - 1 and ${isHeld}
        and (t.due_ms = 0 or t.due_ms <= extract(epoch from clock_timestamp()) * 1000)
      returning r.run_id)`,
    ),
    { name: '', columns: [], rows: 1, bind: () => {}, text: () => `done as (${done})` },
    ...section(
      'steps',
      stepColumns,
      rows.steps,
      (t) => `kept_steps as (
      insert into scheduler.steps (${names(stepColumns)}) select ${expressions(stepColumns)} from ${t} where ${isDone}
      on conflict (run_id, org_id, path) do update set seq = excluded.seq, status = excluded.status,
        view_json = excluded.view_json, out_json = excluded.out_json, out_withheld = excluded.out_withheld, log_tail = excluded.log_tail)`,
    ),
    ...section(
      'queued',
      queueColumns,
      rows.queued,
      (t) => `queued as (
      insert into scheduler.queue (${names(queueColumns)}) select ${expressions(queueColumns)} from ${t} where ${isDone}
      on conflict (run_id, org_id) do update set queued_at_ms = excluded.queued_at_ms)`,
    ),
    ...section(
      'dequeued',
      keyColumns,
      rows.dequeued,
      (t) => `dequeued as (
      delete from scheduler.queue q using ${t}
      where q.run_id = t.run_id and (q.org_id = t.org_id) is true and ${isDone})`,
    ),
    ...section(
      'begun',
      memberColumns,
      groups.begun,
      (t) => `running as (
      insert into scheduler.running (group_id, org_id, run_ids)
      select t.group_id, t.org_id, array_agg(t.run_id) from ${t} where ${isDone}
      group by t.group_id, t.org_id)`,
    ),
    ...section(
      'over',
      groupColumns,
      groups.over,
      (t) => `running_over as (
      delete from scheduler.running w using ${t}
      where w.group_id = t.group_id and (w.org_id = t.org_id) is true)`,
    ),
    ...section(
      'deadlines',
      deadlineColumns,
      rows.deadlines,
      (t) => `deadlines_set as (
      insert into scheduler.deadlines (${names(deadlineColumns)}) select ${expressions(deadlineColumns)}
      from ${t} where ${isDone}
      on conflict (run_id, org_id) do update set question_id = excluded.question_id, wake_at_ms = excluded.wake_at_ms,
        bytes = excluded.bytes)`,
    ),
    ...section(
      'deadlines over',
      keyColumns,
      rows.deadlinesOver,
      (t) => `deadlines_over as (
      delete from scheduler.deadlines d using ${t}
      where d.run_id = t.run_id and (d.org_id = t.org_id) is true and ${isDone})`,
    ),
    ...section(
      'questions',
      questionColumns,
      rows.questions,
      (t) => `questions as (
      insert into scheduler.questions (${names(questionColumns)}) select ${expressions(questionColumns)}
      from ${t} where ${isDone}
      on conflict (run_id, org_id, question_id) do update set ${changingColumns.map((name) => `${name} = excluded.${name}`).join(', ')})`,
    ),
    ...section(
      'events',
      eventColumns,
      rows.events,
      (t) => `events as (
      insert into scheduler.outbox (${names(eventColumns)}) select ${expressions(eventColumns)} from ${t} where ${isDone})`,
    ),
    // Only its owner writes the row of a shard, so no two nodes wait for each other here.
    ...section(
      'counted',
      unfinishedColumns,
      rows.counted,
      (t) => `counted as (
      insert into scheduler.unfinished as u (org_id, shard, runs)
      select t.org_id, t.shard, sum(t.runs) from ${t} where ${isDone}
      group by t.org_id, t.shard having sum(t.runs) <> 0
      on conflict (org_id, shard) do update set runs = u.runs + excluded.runs)`,
    ),
  ];
}

const guardedColumns = [...updateColumns, ...guardColumns];

const keyColumns: readonly Column<RunChange>[] = [
  { name: 'run_id', type: 'text', value: (c) => c.after.facts.runId },
  { name: 'org_id', type: 'text', value: (c) => c.after.facts.orgId },
];

const epochColumns: readonly Column<{ shard: number; epoch: number }>[] = [
  { name: 'shard', type: 'smallint', value: (e) => e.shard },
  { name: 'epoch', type: 'bigint', value: (e) => e.epoch },
];

function epochsOf(batch: readonly RunChange[]): { shard: number; epoch: number }[] {
  const epochs = new Map<string, { shard: number; epoch: number }>();
  for (const change of batch) {
    const shard = change.after.facts.shard;
    epochs.set(`${shard}/${change.epoch}`, { shard, epoch: change.epoch });
  }
  return [...epochs.values()];
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

function names<Row>(columns: readonly Column<Row>[]): string {
  return columns.map((c) => c.name).join(', ');
}

function expressions<Row>(columns: readonly Column<Row>[]): string {
  return columns.map((c) => c.sql ?? `t.${c.name}`).join(', ');
}
