// The columns of scheduler.runs, one entry each: what a commit writes, what rows and lists read, and the facts of a run
// are all derived from it.
import type { FolderId } from '@methods/base/ids';
import type { Run, RunFacts } from '../run/run.ts';
import type { ArrayElement } from './array-literal.ts';
import type { RunChange } from './run-store.ts';

type SqlType = 'text' | 'smallint' | 'integer' | 'bigint' | 'boolean' | 'bytea';

type FactKey = keyof RunFacts;

export interface RunColumn<Stored = unknown, Listed extends boolean = boolean, Key extends FactKey = FactKey> {
  readonly type: SqlType;
  /** Whether a list of runs reads it. */
  readonly listed: Listed;
  /** Absent: a start leaves the column at its default. */
  readonly start?: (change: RunChange) => ArrayElement;
  /** Absent: the column never changes. */
  readonly update?: (change: RunChange) => ArrayElement;
  /** The fact that the column holds, and how to read it. */
  readonly fact?: { readonly key: Key; read(stored: Stored): unknown };
}

const ms = (value: number) => Math.round(value);
const hex = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
const asIs = (stored: unknown) => stored;

/** Describes a fact that is stored unchanged. */
function fact<Key extends FactKey, Listed extends boolean>(
  key: Key,
  type: SqlType,
  { listed }: { listed: Listed },
): RunColumn<RunFacts[Key], Listed, Key> {
  const start = ({ after }: RunChange) => after.facts[key] as ArrayElement;
  return { type, listed, start, fact: { key, read: asIs } };
}

/** Describes a fact of bytes, which are bound as their hex digits. */
function bytesFact<Key extends 'idempotencyHash' | 'requestDigest'>(key: Key): RunColumn<Uint8Array, false, Key> {
  return { type: 'bytea', listed: false, start: ({ after }) => hex(after.facts[key]), fact: { key, read: asIs } };
}

/** Describes a part of a run's state. `start` differs if a first commit knows the value. */
function state<Stored>() {
  return <Listed extends boolean>(
    type: SqlType,
    { listed }: { listed: Listed },
    update: (run: Run) => ArrayElement,
    start: ((run: Run) => ArrayElement) | null = update,
  ): RunColumn<Stored, Listed, never> => ({
    type,
    listed,
    update: ({ after }) => update(after),
    ...(start === null ? {} : { start: ({ after }: RunChange) => start(after) }),
  });
}

const LISTED = { listed: true } as const;
const UNLISTED = { listed: false } as const;
const zero = () => 0;

/** In the order in which a start writes them. */
export const runColumns = {
  run_id: fact('runId', 'text', LISTED),
  org_id: fact('orgId', 'text', UNLISTED),
  shard: fact('shard', 'smallint', UNLISTED),
  revision: state<number>()('integer', LISTED, (run) => run.revision),
  method: fact('method', 'text', LISTED),
  version_id: fact('versionId', 'text', LISTED),
  inputs_json: fact('inputsJson', 'text', UNLISTED),
  idempotency_hash: bytesFact('idempotencyHash'),
  request_digest: bytesFact('requestDigest'),
  webhook_url: fact('webhookUrl', 'text', UNLISTED),
  key_id: fact('keyId', 'text', LISTED),
  starter_json: {
    type: 'text',
    listed: true,
    start: ({ after }) => jsonOf(after.facts.starter),
    fact: { key: 'starter', read: (json) => (json === null ? null : JSON.parse(json)) },
  } as RunColumn<string | null, true, 'starter'>,
  answer_by: fact('answerBy', 'text', LISTED),
  metadata_json: {
    type: 'text',
    listed: true,
    start: ({ after }) => textOf(after.facts.metadata),
    fact: { key: 'metadata', read: (json) => (json === null ? {} : JSON.parse(json)) },
  } as RunColumn<string | null, true, 'metadata'>,
  created_at_ms: {
    ...fact('createdAtMs', 'bigint', LISTED),
    start: ({ after }) => ms(after.facts.createdAtMs),
  } as RunColumn<number, true, 'createdAtMs'>,
  max_attempts: fact('maxAttempts', 'smallint', LISTED),
  needs: fact('needs', 'text', UNLISTED),
  cleans_up: fact('cleansUp', 'boolean', UNLISTED),
  content_id: fact('contentId', 'text', LISTED),
  sealed_by: fact('sealedBy', 'text', UNLISTED),
  rerun_of: fact('rerunOf', 'text', LISTED),
  status: state<Run['status']>()('text', LISTED, (run) => run.status),
  state_since_ms: state<number>()('bigint', LISTED, (run) => ms(run.stateSinceMs)),
  started_at_ms: state<number | null>()('bigint', LISTED, ({ startedAtMs }) => startedAtMs && ms(startedAtMs)),
  queued_ms: state<number>()('bigint', LISTED, ({ spans }) => ms(spans.queuedMs)),
  running_ms: state<number>()('bigint', LISTED, ({ spans }) => ms(spans.runningMs), zero),
  waiting_ms: state<number>()('bigint', LISTED, ({ spans }) => ms(spans.waitingMs), zero),
  attempts: state<number>()('smallint', LISTED, (run) => run.attempts),
  attempt_open: state<boolean>()('boolean', UNLISTED, (run) => run.attemptOpen),
  token: state<string | null>()('text', UNLISTED, (run) => run.token),
  worker_session: state<string | null>()('text', UNLISTED, (run) =>
    run.status === 'running' ? run.workerSession : null,
  ),
  last_seq: state<number>()('integer', UNLISTED, (run) => run.lastSeq),
  folder_id: state<FolderId | null>()('text', UNLISTED, (run) => run.folderId),
  returned_token: state<string | null>()('text', UNLISTED, (run) => run.returnedToken, null),
  cancel_requested: state<boolean>()('boolean', LISTED, (run) => run.status === 'running' && run.cancelRequested, null),
  question_json: state<string | null>()(
    'text',
    UNLISTED,
    (run) => (run.status === 'waiting' ? JSON.stringify(run.question) : null),
    null,
  ),
  answer_json: state<string | null>()('text', UNLISTED, ({ answer }) => jsonOf(answer), null),
  wake_at_ms: state<number | null>()(
    'bigint',
    LISTED,
    (run) => (run.status === 'sleeping' ? ms(run.wakeAtMs) : null),
    null,
  ),
  result_json: state<string | null>()(
    'text',
    UNLISTED,
    (run) => (run.status === 'succeeded' ? run.resultJson : null),
    null,
  ),
  error_json: state<string | null>()(
    'text',
    LISTED,
    (run) => (run.status === 'failed' ? JSON.stringify(run.error) : null),
    null,
  ),
  ending_json: state<string | null>()('text', LISTED, ({ ending }) => jsonOf(ending), null),
};

type Columns = typeof runColumns;
type StoredIn<Column> = Column extends RunColumn<infer Stored, boolean> ? Stored : never;
type FactIn<Column> = Column extends { readonly fact?: { readonly key: infer Key extends FactKey } } ? Key : never;

/** A row as it is read. */
export type RunRow = { readonly [Name in keyof Columns]: StoredIn<Columns[Name]> };

type ListedName = {
  [Name in keyof Columns]: Columns[Name]['listed'] extends true ? Name : never;
}[keyof Columns];

/** A row of a list: without content, and without what only the run's owner needs. */
export type ListedRunRow = Pick<RunRow, ListedName>;

/** The facts of a run that callers see. */
export type ListedFacts = Pick<RunFacts, FactIn<Columns[ListedName]>>;

const facts = Object.entries<RunColumn>(runColumns).flatMap(([name, { listed, fact: of }]) =>
  of === undefined ? [] : [{ name: name as keyof RunRow, listed, ...of }],
);
const listedFacts = facts.filter(({ listed }) => listed);

export function listedFactsFrom(row: ListedRunRow): ListedFacts {
  return factsIn(listedFacts, row);
}

/** Returns all facts of a run: a fact without a column does not compile. */
export function factsFrom(row: RunRow): Pick<RunFacts, FactIn<Columns[keyof Columns]>> {
  return factsIn(facts, row);
}

function factsIn<Found>(of: typeof facts, row: Partial<RunRow>): Found {
  const found: Partial<Record<FactKey, unknown>> = {};
  for (const { name, key, read } of of) found[key] = read(row[name]);
  return found as Found;
}

/** Returns the columns that a query selects. Times are read as numbers. */
export function selected(isRead: (column: RunColumn) => boolean): string {
  return Object.entries<RunColumn>(runColumns)
    .filter(([, column]) => isRead(column))
    .map(([name, { type }]) => (type === 'bigint' ? `${name}::float8` : name))
    .join(', ');
}

function textOf(metadata: RunFacts['metadata']): string | null {
  return Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata);
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
