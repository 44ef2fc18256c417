// Runs every statement of this service on a full database and compares the rows and blocks its plan reads with what it
// returns. METHODS_STATEMENTS_ROWS=1000000 fills it like the largest installation; the bounds are the same.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type FileId, type FolderId, newId, newRunId, type OrgId, type RunId } from '@methods/base/ids';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { openPool, type Sql } from '@methods/postgres/pool';
import {
  type Allowance,
  neverRun,
  StatementPlans,
  statementRows,
  wasteful,
} from '@methods/test/harness/statement-plans';
import { OldRuns } from '../retention/old-runs.ts';
import { FILE_SHARE } from '../rpc/input-files.ts';
import { NodeRows } from '../shard/node-beats.ts';
import { ShardLease } from '../shard/shard-lease.ts';
import { FileStore } from './file-store.ts';
import { fillScheduler, LARGE_METHOD, LARGE_ORG, runIdOf, SHARDS } from './full-database.fixture.ts';
import { bulkStatements, listStatements } from './list-statements.fixture.ts';
import { questionIdOf } from './open-questions.fixture.ts';
import { PostgresOutbox } from './outbox.ts';
import { PostgresRunStore } from './postgres-run-store.ts';
import { QuestionFinder } from './question-finder.ts';
import { type QuestionFilter, QuestionLists } from './question-lists.ts';
import { type FolderPlace, RunFolderStore } from './run-folder-store.ts';
import { pageSettings, writerSettings } from './scheduler-database.ts';
import { changesOfALife, upkeep } from './statements.fixture.ts';

const QUEUED = statementRows(50_000);
const SOURCE = fileURLToPath(new URL('..', import.meta.url));
/** Events read by one check of events that are not due yet. */
const OUTBOX_STRETCH = 1_000;
/** Questions read by a page with several conditions, and by a count. */
const QUESTIONS_LOOKED_AT = 1_000;
const OWNED = Array.from({ length: SHARDS / 4 }, (_, shard) => shard);

const ALLOWED: readonly Allowance[] = [
  {
    statement: 'from scheduler.unfinished where org_id = any',
    rowsMax: 1_000,
    why: 'an organization has a row for each shard',
  },
  {
    statement: 'with recursive orgs(org_id, n) as',
    rowsMax: 4_000,
    why: 'events of the shards of other nodes are passed over, at most so many for each one that is sent',
  },
  {
    statement: 'from scheduler.deadlines where wake_at_ms <',
    rowsMax: 4_096,
    why: 'a stretch of the deadlines of all nodes is looked at',
  },
  {
    statement: 'order by queued_at_ms, run_id limit 4096) stretch) numbered',
    rowsMax: 4_096,
    why: 'a stretch of the queue of all nodes is looked at',
  },
  {
    statement: 'with looked as materialized',
    rowsMax: 3 * OUTBOX_STRETCH,
    why: 'a stretch of the outbox is looked at, and again what of it is not due',
  },
  {
    statement: 'with summed as materialized ( select run_id, method, (created_at_ms',
    rowsMax: 15_000,
    why: 'sums of the last runs, fewer than a page looks at, and of their answers: here two of each',
  },
  {
    statement: 'with counted as materialized ( select method, status, queued_ms',
    rowsMax: 15_000,
    why: 'counts of the last runs, fewer than a count looks at, in three groupings',
  },
  {
    statement: 'select run_id as "runId", status, content_id is not null',
    rowsMax: 5_000,
    why: 'a page of a change of many runs looks at 5,000 runs',
  },
  {
    statement: 'with recursive heads(method, n) as',
    rowsMax: 10_000,
    why: 'of each queue the first thousand are counted',
  },
  {
    statement: 'select mine.method, mine.queued_at_ms::float8',
    rowsMax: 1_002,
    why: 'a place counts so many runs before it',
  },
  {
    statement: 'order by runs.created_at_ms desc, run_id desc offset',
    rowsMax: 5_000,
    why: 'a page with a filter looks at 5,000 runs and says where it got to',
  },
  {
    statement: 'and (runs.created_at_ms, run_id) >= (',
    rowsMax: 5_000,
    why: 'the page itself, within the reach found before',
  },
  {
    statement: 'select question_id, due_at_ms::float8 from scheduler.questions',
    rowsMax: QUESTIONS_LOOKED_AT,
    why: 'a page with several conditions looks at a bounded number of questions and says where it got to',
  },
  {
    statement: 'select question_id, run_id, method, version_id, step, answer_by, prompt',
    rowsMax: QUESTIONS_LOOKED_AT,
    why: 'the page itself, within the reach found before',
  },
  {
    statement: 'as count, count(*)::int as looked from',
    rowsMax: QUESTIONS_LOOKED_AT + 1,
    why: 'a count stops there',
  },
  {
    statement: 'insert into scheduler.run_folder_chunks (folder_id, org_id, position, chunk) select',
    rowsMax: 5_000,
    why: 'a folder is copied 64 chunks at a time',
  },
  {
    statement: 'left join scheduler.runs r on r.run_id = f.run_id and r.org_id = f.org_id',
    rowsMax: 2_000,
    why: 'a page of the sweep looks at 500 folders and their runs',
  },
];

let plans: StatementPlans;

before(async () => {
  plans = await StatementPlans.start();
  await fillScheduler(plans.url, plans.admin, QUEUED);
});
after(() => plans.stop());

for (const [when, prepare] of [
  ['never analyzed', async () => {}],
  ['analyzed', async (sql: Sql) => void (await sql`analyze`)],
] as const) {
  test(`every statement on a full database, ${when}, reads in proportion to what it returns`, async () => {
    await prepare(plans.admin);
    const logged = await plans.during(tour);
    assert.deepEqual(wasteful(logged, ALLOWED), []);
    assert.deepEqual(neverRun(SOURCE, logged), [
      // On a database without shards.
      'shard/shard-lease.ts: insert into scheduler.shards (shard, listed_epoch) select n, 0 from generate_series(0,',
    ]);
  });
}

test('a statement that sorts a whole queue is noticed, and so is one that never ran', async () => {
  const logged = await plans.during(async () => {
    const sql = openPool({ url: plans.url, applicationName: 'tour', max: 1, statementTimeoutMs: 60_000 });
    await sql`select run_id, queued_at_ms::float8 from scheduler.queue
      where org_id = ${LARGE_ORG} and method = ${LARGE_METHOD} order by queued_at_ms, run_id limit 10`;
    await sql.end({ timeout: 1 });
  });
  assert.equal(wasteful(logged, ALLOWED).length, 1);
  assert.ok(neverRun(SOURCE, logged).length > 20);
});

async function tour(): Promise<void> {
  const pool = (settings: Readonly<Record<string, string>> = {}) =>
    openPool({ url: plans.url, applicationName: 'tour', max: 2, statementTimeoutMs: 60_000, settings });
  const [writer, reader, outboxPool, retention] = [
    pool(writerSettings),
    pool(pageSettings),
    pool(pageSettings),
    pool(writerSettings),
  ];
  try {
    const store = new PostgresRunStore({ writer, reader, commitDeadlineMs: 60_000, readDeadlineMs: 60_000 });
    await runs(reader, store);
    await listStatements(reader, LARGE_ORG, LARGE_METHOD);
    await bulkStatements(reader, LARGE_ORG);
    await questions(reader);
    await folders(reader);
    await files(reader);
    await events(new PostgresOutbox({ sql: outboxPool, deadlineMs: 60_000 }));
    await shards(reader);
    const old = new OldRuns({ sql: retention, deadlineMs: 60_000 });
    const page = await old.page(3, null, Date.now(), 500);
    await old.delete(
      3,
      1,
      page.slice(0, 200).map((run) => ({ ...run, keptDays: 30 })),
    );
  } finally {
    await Promise.all([writer, reader, outboxPool, retention].map((sql) => sql.end({ timeout: 1 })));
  }
}

async function runs(sql: Sql, store: PostgresRunStore): Promise<void> {
  const nowMs = Math.round(await store.clockMs());
  // Enough that rows of running runs are dropped, which happens many at a time.
  for (const batch of changesOfALife(nowMs, 300)) await store.commit(batch);
  // One run by itself has statements of its own.
  for (const batch of changesOfALife(nowMs, 1)) await store.commit(batch);
  const ids = Array.from({ length: 200 }, (_, i) => runIdOf((QUEUED + i + 1) % SHARDS, QUEUED + i + 1));
  assert.equal((await store.load(ids)).size, 200);
  const hash = (n: number) => Buffer.from(n.toString(16).padStart(64, '0'), 'hex');
  assert.equal((await store.places(ids)).size, 200);
  const firstAnswered = QUEUED + QUEUED / 10 + QUEUED / 100 + 1;
  const answered = Array.from({ length: 100 }, (_, i) => runIdOf((firstAnswered + i) % SHARDS, firstAnswered + i));
  for (const run of (await store.load(answered)).values()) assert.equal(run.answers.length, 2);
  await store.loadByKey([5, 6, 7].map((n) => ({ orgId: LARGE_ORG, idempotencyHash: hash(n) })));
  await store.hasContent(LARGE_ORG, '0'.repeat(32));
  await store.hasRun(LARGE_ORG, newRunId(0));
  await store.keptSteps(LARGE_ORG, ids[0] ?? 'run_none');
  await store.keptStepsOf(ids.slice(0, 64).map((runId) => ({ orgId: LARGE_ORG, runId })));
  await store.stepsForPeople(LARGE_ORG, ids[0] ?? 'run_none');
  await store.outOfStep(LARGE_ORG, ids[0] ?? 'run_none', 'step_1');
  // Nodes of the previous release owned all shards.
  await sql`update scheduler.shards set listed_epoch = null`;
  const owned = await new ShardLease({ sql, nodeId: 'node_a' }).mine();
  const running = await store.runningOf(owned.filter(({ shard }) => OWNED.includes(shard)));
  assert.ok(running.length > 0.9 * (OWNED.length / SHARDS) * (QUEUED / 100));
  await upkeep(sql);
  const queues = Array.from({ length: 1_000 }, (_, i) => ({
    orgId: `org_${i % 60}` as const,
    method: `wf_${i % 20}` as const,
  }));
  await store.queueHeads(queues, OWNED);
  await store.queueHeads(queues, [SHARDS + 1]);
  const large = { orgId: LARGE_ORG, method: LARGE_METHOD };
  const page = await store.queuePage(large, { queuedAtMs: 0, runId: '' }, OWNED, 256);
  assert.equal(page.entries.length, 256);
  await store.queuePage(large, page.end ?? { queuedAtMs: 0, runId: '' }, OWNED, 256);
  await store.queuePage(large, { queuedAtMs: 0, runId: '' }, [SHARDS + 1], 256);
  await store.dueQuestions(OWNED, nowMs, { wakeAtMs: 0, runId: '' });
  await store.unfinished([LARGE_ORG, 'org_2']);
}

async function questions(sql: Sql): Promise<void> {
  const options = { reader: new OrganizationReader({ sql, role: readerRole('scheduler') }), deadlineMs: 60_000 };
  const all = new QuestionLists({ ...options, lookedAtMax: QUESTIONS_LOOKED_AT, countMax: QUESTIONS_LOOKED_AT });
  const filter: QuestionFilter = {
    ...{ orgId: LARGE_ORG, answerBy: ['team'], assignees: null },
    ...{ method: '', dueBeforeMs: null },
  };
  const due = { dueBeforeMs: Date.now() };
  for (const more of [
    {},
    due,
    { answerBy: ['team', 'application'] },
    { assignees: [''] },
    { assignees: ['usr_3', 'ann@example.com'] },
    { method: 'wf_usual' },
    { method: 'wf_rare', assignees: [''] },
    { method: 'wf_rare', assignees: ['usr_0'], ...due },
    { orgId: 'org_7' },
  ] as const) {
    const first = await all.page({ ...filter, ...more }, null, 50);
    await all.page({ ...filter, ...more }, first.next, 50);
    await all.count({ ...filter, ...more });
  }
  const finder = new QuestionFinder(options);
  const [run] = await sql<{ run_id: RunId }[]>`select run_id from scheduler.runs where org_id = ${LARGE_ORG} limit 1`;
  await sql`update scheduler.questions set run_id = ${run?.run_id ?? ''}
    where org_id = ${LARGE_ORG} and question_id = ${questionIdOf(77)}`;
  assert.equal(await finder.runOf(LARGE_ORG, questionIdOf(77)), run?.run_id);
  assert.ok(await finder.find(LARGE_ORG, questionIdOf(77)));
  assert.equal(await finder.find('org_7', questionIdOf(77)), null);
}

let tours = 0;

async function folders(sql: Sql): Promise<void> {
  const store = new RunFolderStore(sql);
  const runId = runIdOf((QUEUED + 1) % SHARDS, QUEUED + 1);
  const [row] = await sql<{ org_id: OrgId; folder_id: FolderId }[]>`
    select org_id, folder_id from scheduler.runs where run_id = ${runId}`;
  const from = { folderId: row?.folder_id ?? 'fld_none', orgId: row?.org_id ?? 'org_none', runId };
  const to = { ...from, folderId: `fld_new${process.hrtime.bigint()}` as const };
  await store.put(to, oneChunk(), 1);
  assert.ok((await store.get(from)) !== null);
  for await (const chunk of (await store.get(from)) ?? []) assert.equal(chunk.length, 1);
  assert.ok(await store.copy(from, { ...to, folderId: `${to.folderId}c` }));
  await store.dropReplaced(from.orgId, runId);
  await store.remove(to);
  await sql`update scheduler.run_folders set run_id = 'none' where folder_id = ${`fld_${QUEUED + 2 + ++tours}`}`;
  let place: FolderPlace = { createdAtMs: 0, folderId: '', orgId: '' };
  for (let page = 0; page < 3; page++) place = (await store.sweep(place)).place;
}

async function* oneChunk(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('x');
}

async function files(sql: Sql): Promise<void> {
  const store = new FileStore(sql, FILE_SHARE);
  const run = { orgId: LARGE_ORG, runId: runIdOf(1, 1) };
  const owner = 'key_tour';
  const file = { orgId: LARGE_ORG, owner, name: 'a', mediaType: 'a/b', bytesMax: 10 };
  const hash = Buffer.alloc(32, 7);
  const send = async (fileId: FileId, idempotencyHash: Uint8Array | null) => {
    await store.begin({ ...file, fileId });
    await store.append({ orgId: LARGE_ORG, fileId }, 0, Buffer.from('x'));
    return store.finish({ orgId: LARGE_ORG, fileId }, { bytes: 1, sha256: 'a'.repeat(64), idempotencyHash });
  };
  const [first, second] = [newId('file'), newId('file')];
  await send(first, hash);
  await store.byIdempotencyHash(file, 'a'.repeat(64), hash);
  await store.byIdempotencyHash(file, 'a'.repeat(64), Buffer.alloc(32, 8));
  await store.find(LARGE_ORG, owner, [first]);
  await store.keepFor(run, owner, [first]);
  await store.keepLike({ ...run, runId: runIdOf(2, 2) }, run.runId);
  const found = await store.namedBy(run, first);
  if (found !== null) for await (const _ of store.content(LARGE_ORG, found));
  await store.letGo(run);
  await store.letGo({ ...run, runId: runIdOf(2, 2) });
  await store.remove(LARGE_ORG, owner, first);
  await send(second, null);
  // A file named by a run is kept, and the sweep looks at it.
  await store.keepFor(run, owner, [second]);
  await store.remove(LARGE_ORG, owner, second);
  await store.sweep();
}

async function events(outbox: PostgresOutbox): Promise<void> {
  const nowMs = Date.now();
  const { runs: due } = await outbox.dueRuns({
    shards: OWNED,
    nowMs,
    afterOrgId: '',
    orgsMax: 20,
    runsMax: 20,
    without: [],
  });
  const entries = await outbox.entriesOf(due, nowMs, { perRunMax: 10, entriesMax: 500 });
  await outbox.bodies(entries);
  await outbox.sent(entries.map((entry) => ({ ...entry, sendAtMs: nowMs + 5_000 })));
  await outbox.postpone(due.map((run) => ({ ...run, sendAtMs: nowMs + 9_000 })));
  const places = OWNED.map((shard) => ({ shard, afterMs: 0 }));
  await outbox.makeDue({ shards: places, beforeMs: nowMs, sentToo: true }, nowMs, OUTBOX_STRETCH);
  await outbox.remove(entries.map(({ outboxId }) => outboxId));
}

async function shards(sql: Sql): Promise<void> {
  const lease = new ShardLease({ sql, nodeId: 'node_a' });
  await lease.ensureShards(SHARDS);
  const taken = await lease.take([40, 41], { alive: new Set(['node_a']), gone: new Set() } as never);
  const bumped = await lease.bump(taken);
  await lease.release(bumped);
  await lease.mine();
  const rows = new NodeRows(sql, 60_000);
  await rows.write({ nodeId: 'node_a', peerAddress: 'a:1', beat: 1, leaving: false });
  await rows.read();
  await rows.removeOld();
}
