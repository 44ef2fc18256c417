// The sections of the commit statement: for each table, the columns that a batch writes and the source of their values.
// A section is included only when the batch needs it, so a batch of plain starts is a small statement.
import type { NewStep } from '../run/decision.ts';
import { nextTimeOf } from '../run/question.ts';
import { queuePlaceMs } from '../run/queue-place.ts';
import { sizeOfRun } from '../run/recorded-size.ts';
import { isFinished, type Run } from '../run/run.ts';
import type { Column } from './array-literal.ts';
import { UNCONFIRMED_MS } from './outbox.ts';
import { queueOf } from './queue-key.ts';
import { type RunColumn, runColumns } from './run-columns.ts';
import type { OutboxEvent, RunChange } from './run-store.ts';
import type { Group, GroupMember } from './running-groups.ts';

const ms = (value: number) => Math.round(value);

/** The columns that a start writes, in the order of the table. */
export const startColumns = writtenColumns('start');

export const updateColumns = writtenColumns('update');

/** The columns of a start whose run has advanced further than its first claim by then. */
export const advancedStartColumns = [...startColumns.filter(({ name }) => !isUpdated(name)), ...updateColumns];

/** Reports whether a column that `startColumns` leaves at its default has a value. */
export function isAdvanced({ after }: RunChange): boolean {
  if (after.status === 'queued') return after.attempts > 0;
  return after.status !== 'running' || after.cancelRequested || after.returnedToken !== null || after.answer !== null;
}

/** Columns that find and guard the row of an update; they are not written. */
export const guardColumns: readonly Column<RunChange>[] = [
  { name: 'run_id', type: 'text', value: (c) => c.after.facts.runId },
  { name: 'org_id', type: 'text', value: (c) => c.after.facts.orgId },
  { name: 'shard', type: 'smallint', value: (c) => c.after.facts.shard },
  { name: 'due_ms', type: 'bigint', value: (c) => ms(c.dueMs) },
];

export interface StepRow {
  readonly run: Run;
  readonly step: NewStep;
}

export const stepColumns: readonly Column<StepRow>[] = [
  { name: 'run_id', type: 'text', value: (r) => r.run.facts.runId },
  { name: 'org_id', type: 'text', value: (r) => r.run.facts.orgId },
  { name: 'path', type: 'text', value: (r) => r.step.summary.path },
  { name: 'seq', type: 'integer', value: (r) => r.run.attempts * 100_000 + r.step.seq },
  { name: 'status', type: 'text', value: (r) => r.step.summary.status },
  { name: 'view_json', type: 'text', value: (r) => JSON.stringify(r.step.summary) },
  { name: 'out_json', type: 'text', value: (r) => r.step.outJson },
  { name: 'out_withheld', type: 'boolean', value: (r) => r.step.outWithheld },
  { name: 'log_tail', type: 'text', value: (r) => r.step.logTail },
];

export const queueColumns: readonly Column<RunChange>[] = [
  { name: 'run_id', type: 'text', value: (c) => c.after.facts.runId },
  { name: 'org_id', type: 'text', value: (c) => c.after.facts.orgId },
  { name: 'method', type: 'text', value: (c) => queueOf(c.after.facts).method },
  { name: 'queued_at_ms', type: 'bigint', value: (c) => ms(queuePlaceMs(c.after)) },
  { name: 'shard', type: 'smallint', value: (c) => c.after.facts.shard },
];

/** The columns of a row that lists running runs. */
export const groupColumns: readonly Column<Group>[] = [
  { name: 'group_id', type: 'text', value: (g) => g.groupId },
  { name: 'org_id', type: 'text', value: (g) => g.orgId },
];

export const memberColumns: readonly Column<GroupMember>[] = [
  { name: 'run_id', type: 'text', value: (m) => m.runId },
  { name: 'group_id', type: 'text', value: (m) => m.group.groupId },
  { name: 'org_id', type: 'text', value: (m) => m.group.orgId },
];

export const deadlineColumns: readonly Column<RunChange>[] = [
  { name: 'run_id', type: 'text', value: (c) => c.after.facts.runId },
  { name: 'org_id', type: 'text', value: (c) => c.after.facts.orgId },
  { name: 'question_id', type: 'text', value: (c) => (c.after.status === 'waiting' ? c.after.question.id : '') },
  { name: 'wake_at_ms', type: 'bigint', value: (c) => ms(deadlineOf(c.after) ?? 0) },
  { name: 'shard', type: 'smallint', value: (c) => c.after.facts.shard },
  { name: 'bytes', type: 'bigint', value: (c) => sizeOfRun(c.after) },
];

/** Returns the change of the organization's count of unfinished runs. */
export function unfinishedDelta({ before, after }: RunChange): number {
  return (isFinished(after) ? 0 : 1) - (before === null || isFinished(before) ? 0 : 1);
}

export const unfinishedColumns: readonly Column<RunChange>[] = [
  { name: 'run_id', type: 'text', value: (c) => c.after.facts.runId },
  { name: 'org_id', type: 'text', value: (c) => c.after.facts.orgId },
  { name: 'shard', type: 'smallint', value: (c) => c.after.facts.shard },
  { name: 'runs', type: 'integer', value: unfinishedDelta },
];

export const eventColumns: readonly Column<OutboxEvent>[] = [
  { name: 'outbox_id', type: 'text', value: (e) => e.outboxId },
  { name: 'org_id', type: 'text', value: (e) => e.orgId },
  { name: 'run_id', type: 'text', value: (e) => e.runId },
  { name: 'shard', type: 'smallint', value: (e) => e.shard },
  { name: 'seq', type: 'integer', value: (e) => e.seq },
  {
    name: 'body',
    type: 'text',
    value: (e) => Buffer.from(e.body).toString('base64'),
    sql: `decode(t.body, 'base64')`,
  },
  { name: 'created_at_ms', type: 'bigint', value: (e) => ms(e.createdAtMs) },
  { name: 'send_at_ms', type: 'bigint', value: (e) => ms(e.createdAtMs + UNCONFIRMED_MS) },
];

/**
 * Returns when a run changes without a report: a time of its question comes, it wakes, or it ends without its cleanup.
 */
export function deadlineOf(run: Run | null): number | null {
  if (run?.status === 'queued') return run.ending?.byMs ?? null;
  if (run?.status === 'sleeping') return run.wakeAtMs;
  return run?.status === 'waiting' ? nextTimeOf(run.question) : null;
}

function isUpdated(name: string): boolean {
  return updateColumns.some((column) => column.name === name);
}

/** Bytes are bound as their hex digits. */
function writtenColumns(when: 'start' | 'update'): readonly Column<RunChange>[] {
  const written: Column<RunChange>[] = [];
  for (const [name, { type, [when]: value }] of Object.entries<RunColumn>(runColumns)) {
    if (value === undefined) continue;
    if (type === 'bytea') written.push({ name, type: 'text', value, sql: `decode(t.${name}, 'hex')` });
    else written.push({ name, type, value });
  }
  return written;
}
