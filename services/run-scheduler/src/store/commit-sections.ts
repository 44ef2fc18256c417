// The sections of the commit statement: for each table, the columns that a batch writes and the source of their values.
// A section is included only when the batch needs it, so a batch of plain starts is a small statement.
import type { NewStep } from '../run/effect.ts';
import { queuePlaceMs } from '../run/queue-place.ts';
import { sizeOfRun } from '../run/recorded-size.ts';
import { isFinished, type Run } from '../run/run.ts';
import type { ArrayElement } from './array-literal.ts';
import { UNCONFIRMED_MS } from './outbox.ts';
import { queueOf } from './queue-key.ts';
import type { OutboxEvent, RunChange } from './run-store.ts';
import type { Group, GroupMember } from './running-groups.ts';

export interface Column<Row> {
  readonly name: string;
  /** Type of the bound array's elements. */
  readonly type: string;
  readonly value: (row: Row) => ArrayElement;
  /** SQL that converts the bound element to the column, where they differ. */
  readonly sql?: string;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
const ms = (value: number) => Math.round(value);

export const startColumns: readonly Column<RunChange>[] = [
  { name: 'run_id', type: 'text', value: (c) => c.after.facts.runId },
  { name: 'org_id', type: 'text', value: (c) => c.after.facts.orgId },
  { name: 'shard', type: 'smallint', value: (c) => c.after.facts.shard },
  { name: 'revision', type: 'integer', value: (c) => c.after.revision },
  { name: 'method', type: 'text', value: (c) => c.after.facts.method },
  { name: 'version_id', type: 'text', value: (c) => c.after.facts.versionId },
  { name: 'inputs_json', type: 'text', value: (c) => c.after.facts.inputsJson },
  {
    name: 'idempotency_hash',
    type: 'text',
    value: (c) => hex(c.after.facts.idempotencyHash),
    sql: `decode(t.idempotency_hash, 'hex')`,
  },
  {
    name: 'request_digest',
    type: 'text',
    value: (c) => hex(c.after.facts.requestDigest),
    sql: `decode(t.request_digest, 'hex')`,
  },
  { name: 'webhook_url', type: 'text', value: (c) => c.after.facts.webhookUrl },
  { name: 'key_id', type: 'text', value: (c) => c.after.facts.keyId },
  { name: 'answer_by', type: 'text', value: (c) => c.after.facts.answerBy },
  { name: 'metadata_json', type: 'text', value: (c) => metadataJson(c.after) },
  { name: 'created_at_ms', type: 'bigint', value: (c) => ms(c.after.facts.createdAtMs) },
  { name: 'max_attempts', type: 'smallint', value: (c) => c.after.facts.maxAttempts },
  { name: 'needs', type: 'text', value: (c) => c.after.facts.needs },
  { name: 'cleans_up', type: 'boolean', value: (c) => c.after.facts.cleansUp },
  { name: 'status', type: 'text', value: (c) => c.after.status },
  { name: 'state_since_ms', type: 'bigint', value: (c) => ms(c.after.stateSinceMs) },
  { name: 'started_at_ms', type: 'bigint', value: (c) => startedAt(c.after) },
  { name: 'queued_ms', type: 'bigint', value: (c) => ms(c.after.spans.queuedMs) },
  { name: 'running_ms', type: 'bigint', value: () => 0 },
  { name: 'waiting_ms', type: 'bigint', value: () => 0 },
  { name: 'attempts', type: 'smallint', value: (c) => c.after.attempts },
  { name: 'attempt_open', type: 'boolean', value: (c) => c.after.attemptOpen },
  { name: 'token', type: 'text', value: (c) => c.after.token },
  { name: 'worker_session', type: 'text', value: (c) => workerSession(c.after) },
  { name: 'last_seq', type: 'integer', value: (c) => c.after.lastSeq },
  { name: 'folder_id', type: 'text', value: (c) => c.after.folderId },
];

export const updateColumns: readonly Column<RunChange>[] = [
  { name: 'revision', type: 'integer', value: (c) => c.after.revision },
  { name: 'status', type: 'text', value: (c) => c.after.status },
  { name: 'state_since_ms', type: 'bigint', value: (c) => ms(c.after.stateSinceMs) },
  { name: 'started_at_ms', type: 'bigint', value: (c) => startedAt(c.after) },
  { name: 'queued_ms', type: 'bigint', value: (c) => ms(c.after.spans.queuedMs) },
  { name: 'running_ms', type: 'bigint', value: (c) => ms(c.after.spans.runningMs) },
  { name: 'waiting_ms', type: 'bigint', value: (c) => ms(c.after.spans.waitingMs) },
  { name: 'attempts', type: 'smallint', value: (c) => c.after.attempts },
  { name: 'attempt_open', type: 'boolean', value: (c) => c.after.attemptOpen },
  { name: 'token', type: 'text', value: (c) => c.after.token },
  { name: 'returned_token', type: 'text', value: (c) => c.after.returnedToken },
  { name: 'worker_session', type: 'text', value: (c) => workerSession(c.after) },
  { name: 'last_seq', type: 'integer', value: (c) => c.after.lastSeq },
  {
    name: 'cancel_requested',
    type: 'boolean',
    value: (c) => c.after.status === 'running' && c.after.cancelRequested,
  },
  {
    name: 'question_json',
    type: 'text',
    value: (c) => (c.after.status === 'waiting' ? JSON.stringify(c.after.question) : null),
  },
  {
    name: 'answer_json',
    type: 'text',
    value: (c) => (c.after.answer === null ? null : JSON.stringify(c.after.answer)),
  },
  {
    name: 'wake_at_ms',
    type: 'bigint',
    value: (c) => (c.after.status === 'sleeping' ? ms(c.after.wakeAtMs) : null),
  },
  { name: 'folder_id', type: 'text', value: (c) => c.after.folderId },
  { name: 'result_json', type: 'text', value: (c) => (c.after.status === 'succeeded' ? c.after.resultJson : null) },
  {
    name: 'error_json',
    type: 'text',
    value: (c) => (c.after.status === 'failed' ? JSON.stringify(c.after.error) : null),
  },
  {
    name: 'ending_json',
    type: 'text',
    value: (c) => (c.after.ending === null ? null : JSON.stringify(c.after.ending)),
  },
];

/** Finds and guards the row of an update; not written. */
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

/** Of a row that lists running runs. */
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

/** The change of the organization's count of unfinished runs. */
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

/** When a run changes without a report: its question ends, it wakes, or it ends without its cleanup. */
export function deadlineOf(run: Run | null): number | null {
  if (run?.status === 'queued') return run.ending?.byMs ?? null;
  if (run?.status === 'sleeping') return run.wakeAtMs;
  return run?.status === 'waiting' ? run.question.deadlineAtMs : null;
}

function metadataJson(run: Run): string | null {
  return Object.keys(run.facts.metadata).length === 0 ? null : JSON.stringify(run.facts.metadata);
}

function startedAt(run: Run): number | null {
  return run.startedAtMs === null ? null : ms(run.startedAtMs);
}

function workerSession(run: Run): string | null {
  return run.status === 'running' ? run.workerSession : null;
}
