import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { systemClock } from '@methods/base/clock';
import { newId, newRunId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { StartRunSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { ClaimsAtOnce } from '../claim/claims-at-once.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { CountedWaiters } from '../queue/counted-waiters.fixture.ts';
import { QueuedPages } from '../queue/queued-pages.fixture.ts';
import { ReadyRuns } from '../queue/ready-runs.ts';
import { claim, fail, recordStep, succeed } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { FileStore } from '../store/file-store.ts';
import { RunFolderStore } from '../store/run-folder-store.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import type { RunStore } from '../store/run-store.ts';
import { type DeliveredGrant, GrantDesk } from '../worker-stream/grant-desk.ts';
import { quietLeases } from '../worker-stream/lease-table.fixture.ts';
import { FILE_SHARE, InputFiles } from './input-files.ts';
import { RestedTurns } from './rested-turns.ts';
import { StartRuns } from './start-run.ts';
import { UnfinishedRuns } from './unfinished-runs.ts';

const KEY = { orgId: 'org_a' as const, method: 'wf_a' as const };
const WORKER = 'org_a.worker.1';
const code = (expected: string) => ({ name: 'ServiceError', code: expected });

describe('starts', () => {
  let db: TestStore;
  let node: TestActors;
  let waiters: CountedWaiters;
  let ready: ReadyRuns;
  let starts: StartRuns;
  let folders: RunFolderStore;
  let files: FileStore;
  let delivered: DeliveredGrant[];
  let ids: string[];
  let nextShard: () => number | null;
  let counted: UnfinishedRuns;
  let countedTimes: number;
  let copying: number;
  let copiedAtOnce: number;

  before(async () => {
    db = await TestStore.open();
    folders = new RunFolderStore(db.sql);
    files = new FileStore(db.sql, FILE_SHARE);
  });
  after(() => db.close());

  beforeEach(async () => {
    node = await TestActors.on(db);
    [delivered, ids] = [[], []];
    let turn = 0;
    nextShard = () => turn++ % 4;
    ready = new ReadyRuns({
      store: new QueuedPages().store,
      logger: silentLogger,
      ownedShards: () => [0, 1, 2, 3],
      announce: () => {},
    });
    waiters = new CountedWaiters({
      nodeId: 'here',
      clock: new ManualClock(),
      send: () => true,
      interestChanged: ({ added }) => {
        for (const key of added) ready.wanted(key);
      },
    });
    const grants = new GrantDesk({
      store: node.store,
      leases: quietLeases(),
      returnGrant: () => {},
      tooLarge: () => {},
      epochOf: () => 1,
      deliver: (grant) => delivered.push(grant) > 0,
      logger: silentLogger,
    });
    node.actors.listen(grants);
    const { actors, databaseClock } = node;
    const owns = (shard: number) => node.epochs.has(shard);
    const nextStartShard = () => nextShard();
    countedTimes = 0;
    const store: Pick<RunStore, 'unfinished'> = {
      async unfinished(orgIds) {
        const runs = await db.store.unfinished(orgIds);
        countedTimes++;
        return runs;
      },
    };
    counted = new UnfinishedRuns({ store, clock: new ManualClock(), logger: silentLogger, max: 3 });
    const unfinished = {
      hasRoom: (orgId: OrgId) => orgId !== 'org_full' || counted.hasRoom(orgId),
      started: (orgId: OrgId) => counted.started(orgId),
    };
    [copying, copiedAtOnce] = [0, 0];
    const seen = {
      copy(...copy: Parameters<RunFolderStore['copy']>) {
        copiedAtOnce = Math.max(copiedAtOnce, ++copying);
        return folders.copy(...copy).finally(() => copying--);
      },
      remove: folders.remove.bind(folders),
    };
    starts = new StartRuns({
      maxAttempts: 3,
      actors,
      databaseClock,
      claims: new ClaimsAtOnce({ nodeId: 'here', actors, ready, waiters, grants }),
      nextStartShard,
      owns,
      unfinished,
      kept: { actors, store: node.store, folders: seen, turns: new RestedTurns('reruns', systemClock) },
      files: new InputFiles(files),
      store: db.store,
    });
  });

  function start(more: MessageInitShape<typeof StartRunSchema> = {}) {
    const [idempotencyHash, requestDigest] = [randomBytes(32), randomBytes(32)];
    const facts = {
      ...KEY,
      versionId: 'ver_a' as const,
      inputsJson: '{}',
      keyId: 'key_a' as const,
      idempotencyHash,
      requestDigest,
    };
    return starts.start(create(StartRunSchema, { ...facts, ...more }), (runId) => ids.push(runId));
  }

  async function freePlaces(count: number): Promise<void> {
    waiters.register(WORKER, [KEY]);
    waiters.addCredits(WORKER, count);
    await new Promise(setImmediate);
  }

  test('a run exists before the reply to its start, and its id is reported before anything happens', async () => {
    const started = start();
    assert.equal(ids.length, 1);
    const { run, replayed } = await started;
    assert.deepEqual([run.facts.runId, run.status, replayed], [ids[0], 'queued', false]);
    assert.equal((await db.load(run.facts.runId))?.facts.maxAttempts, 3);
  });

  test('a start names a run of its organization that it repeats, or is refused; a repeat is not', async () => {
    const [idempotencyHash, requestDigest] = [randomBytes(32), randomBytes(32)];
    const { run: first } = await start();
    const again = await start({ rerunOf: first.facts.runId, idempotencyHash, requestDigest });
    assert.equal((await db.load(again.run.facts.runId))?.facts.rerunOf, first.facts.runId);
    for (const more of [{ rerunOf: newRunId(0) }, { rerunOf: first.facts.runId, orgId: 'org_other' as const }]) {
      await assert.rejects(start(more), {
        code: 'invalid_request',
        message: 'rerun_of names no run of the organization.',
      });
    }
    await db.sql`delete from scheduler.runs where run_id = ${first.facts.runId}`;
    const repeated = await start({ rerunOf: first.facts.runId, idempotencyHash, requestDigest });
    assert.deepEqual([repeated.replayed, repeated.run.facts.runId], [true, again.run.facts.runId]);
  });

  test("all starts of a turn use one shard, those of the next turn the node's next one", async () => {
    const shardsOf = async () => {
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => start()));
      return [...new Set(outcomes.map(({ run }) => run.facts.shard))];
    };
    assert.deepEqual([await shardsOf(), await shardsOf()], [[0], [1]]);
  });

  test('if a worker waits, the start and its claim are one commit, and only the reply still shows queued', async () => {
    await freePlaces(1);
    const [first, second] = await Promise.all([start(), start()]);
    assert.deepEqual(
      delivered.map(({ grant, workerSession }) => [grant.runId, workerSession]),
      [[first.run.facts.runId, WORKER]],
    );
    assert.equal((await db.load(first.run.facts.runId))?.revision, 1);
    assert.equal((await db.load(second.run.facts.runId))?.status, 'queued');
    assert.equal(waiters.freePlaces(), 0);
  });

  test('an organization with too many unfinished runs starts no more but finds those it has, and others start theirs', async () => {
    const orgId = 'org_full' as const;
    const key = { orgId, idempotencyHash: randomBytes(32), requestDigest: randomBytes(32) };
    // Counted before the first of them: a run counted while it starts may count twice.
    assert.ok(counted.hasRoom(orgId));
    await until('its runs are counted', () => countedTimes === 1);
    const { run } = await start(key);
    for (let i = 0; i < 2; i++) await start({ orgId });
    const refused = (error: unknown) =>
      error instanceof ServiceError && error.code === 'rate_limited' && error.findings[0]?.code === 'unfinished_runs';
    await assert.rejects(start({ orgId }), refused);
    assert.deepEqual(((again) => [again.run.facts.runId, again.replayed])(await start(key)), [run.facts.runId, true]);
    assert.equal((await start()).replayed, false);
  });

  test('a run does not overtake an older one that waits', async () => {
    await freePlaces(1);
    ready.added(KEY, { runId: 'run_older', shard: 0, queuedAtMs: 1 });
    const { run } = await start();
    assert.deepEqual([run.status, delivered, waiters.freePlaces()], ['queued', [], 1]);
  });

  test('a repeat returns its place and gets the first run', async () => {
    const [idempotencyHash, requestDigest] = [randomBytes(32), randomBytes(32)];
    const first = await start({ idempotencyHash, requestDigest });
    await freePlaces(1);
    const again = await start({ idempotencyHash, requestDigest });
    assert.deepEqual([again.replayed, again.run.facts.runId], [true, first.run.facts.runId]);
    await assert.rejects(start({ idempotencyHash }), code('idempotency_conflict'));
    assert.deepEqual([delivered, waiters.freePlaces()], [[], 1]);
  });

  test('a value that cannot be stored and a node without shards get different errors, and no place is lost', async () => {
    await freePlaces(1);
    await assert.rejects(start({ inputsJson: '"\0"' }), code('invalid_request'));
    node.lose([0, 1, 2, 3]);
    nextShard = () => null;
    await assert.rejects(start(), code('unavailable'));
    assert.equal(waiters.freePlaces(), 1);
  });

  describe('that begin at a later step', () => {
    /** `ended`: how its last attempt ends. */
    async function finished(
      ended: (token: string, seq: number) => RunCommand,
      records: readonly RunCommand[],
    ): Promise<Run> {
      const { run } = await start();
      const folder = { folderId: newId('fld'), orgId: KEY.orgId, runId: run.facts.runId };
      await folders.put(folder, pieces('the files'), 9);
      await node.tell(run, claim('t'));
      for (const record of records) await node.tell(run, { ...record, folderId: folder.folderId } as RunCommand);
      await node.tell(run, ended('t', records.length + 1));
      return run;
    }

    async function* pieces(text: string) {
      yield Buffer.from(text);
    }

    const paths = (...names: string[]) => names.map((path, i) => recordStep('t', i + 1, path));
    const begun = (run: Run, ...steps: string[]) => ({ kept: { runId: run.facts.runId, steps } });
    const folderCount = async () => (await db.sql`select from scheduler.run_folders`).length;

    test('have the records and files of the earlier steps, and grant all of them', async () => {
      const first = await finished(fail, paths('one', 'loop[0]/inner', 'loop', 'first'));
      const { run } = await start(begun(first, 'one', 'loop'));
      const known = await db.load(run.facts.runId);
      assert.deepEqual(
        known?.steps.map(({ path, attempt, status }) => [path, attempt, status]),
        ['one', 'loop[0]/inner', 'loop'].map((path) => [path, 0, 'succeeded']),
      );
      assert.deepEqual([known.status, known.attempts], ['queued', 0]);
      // As after a restart of its node: everything comes from the database.
      node.lose([0, 1, 2, 3]);
      node = await TestActors.on(db);
      const claimed = await node.tell(run, claim('t'));
      assert.ok(claimed.kind === 'accepted' && claimed.run.steps.length === 3);
      await node.tell(run, recordStep('t', 1, 'first'));
      const last = await db.load(run.facts.runId);
      assert.deepEqual(
        last?.steps.map(({ path }) => path),
        ['one', 'loop[0]/inner', 'loop', 'first'],
      );
      assert.deepEqual(
        (await db.store.keptSteps(KEY.orgId, run.facts.runId)).map(({ path, outJson }) => [path, outJson]),
        ['one', 'loop[0]/inner', 'loop', 'first'].map((path) => [path, '1']),
      );
      const files = await folders.get({
        folderId: known.folderId ?? 'fld_none',
        orgId: KEY.orgId,
        runId: run.facts.runId,
      });
      assert.ok(files);
      assert.notEqual(known.folderId, (await db.load(first.facts.runId))?.folderId);
      let text = '';
      for await (const chunk of files) text += Buffer.from(chunk).toString();
      assert.equal(text, 'the files');
    });

    test('read and copy them one run at a time', async () => {
      const first = await finished(fail, paths('one', 'first'));
      const runs = await Promise.all([1, 2, 3].map(() => start(begun(first, 'one'))));
      assert.equal(runs.length, 3);
      assert.equal(copiedAtOnce, 1);
    });

    test('are granted with their kept steps in the same commit if a worker waits', async () => {
      const first = await finished(succeed, paths('one'));
      await freePlaces(1);
      const { run } = await start(begun(first, 'one'));
      assert.equal((await db.load(run.facts.runId))?.revision, 1);
      await until('the grant has left', () => delivered.length === 1);
      const grant = delivered[0]?.grant;
      assert.deepEqual(
        grant?.finishedSteps?.map(({ path, outJson }) => [path, outJson]),
        [['one', '1']],
      );
      assert.notEqual(grant?.folderId, '');
    });

    test('are refused if a step before it did not end, and leave nothing', async () => {
      const failed = recordStep('t', 2, 'first') as RunCommand & { type: 'record_step' };
      const ended = { ...failed, step: { ...failed.step, status: 'failed' as const } };
      const first = await finished(fail, [recordStep('t', 1, 'one'), ended]);
      const { run: open } = await start();
      const before = await folderCount();
      for (const wrong of [
        begun(first, 'one', 'first'),
        begun(first, 'one', 'never'),
        begun(open),
        { ...begun(first, 'one'), versionId: 'ver_b' as const },
      ]) {
        await assert.rejects(start(wrong), code('invalid_request'));
      }
      await assert.rejects(start({ ...begun(first, 'one'), orgId: 'org_b' }), code('not_found'));
      assert.equal(await folderCount(), before);
      const tolerated = await finished(succeed, [recordStep('t', 1, 'one'), ended]);
      assert.equal((await start(begun(tolerated, 'one', 'first'))).run.steps.length, 2);
    });

    test('exist once for a key, with one copy of the files', async () => {
      const first = await finished(succeed, paths('one'));
      const key = { idempotencyHash: randomBytes(32), requestDigest: randomBytes(32) };
      const { run } = await start({ ...begun(first, 'one'), ...key });
      const before = await folderCount();
      const again = await start({ ...begun(first, 'one'), ...key });
      assert.deepEqual([again.replayed, again.run.facts.runId], [true, run.facts.runId]);
      assert.equal(await folderCount(), before);
      node.lose([0, 1, 2, 3]);
      nextShard = () => 0;
      await assert.rejects(start(begun(first, 'one')), code('unavailable'));
      assert.equal(await folderCount(), before);
    });
  });
});
