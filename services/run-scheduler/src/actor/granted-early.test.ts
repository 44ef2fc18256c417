import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { randomToken } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { ManualClock } from '../manual-clock.fixture.ts';
import { answer, ask, cancel, claim, recordStep, returnGrant, succeed } from '../run/run.fixture.ts';
import type { Run, RunningRun } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { newFacts, TestStore } from '../store/run-store.fixture.ts';
import type { StartOutcome } from './run-actors.ts';
import { TestActors } from './test-actors.fixture.ts';

const HOLD_MS = 100;

describe('a run that only computes', () => {
  let db: TestStore;
  let clock: ManualClock;
  let node: TestActors;
  let granted: RunningRun[];

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    clock = new ManualClock();
    node = await TestActors.on(db, silentLogger, clock);
    granted = [];
    node.actors.listenEarly((run) => granted.push(run));
  });

  /** Returns a run that is granted and whose start is not committed. */
  function begin(facts = newFacts(0, { webhookUrl: null })): { run: RunningRun; started: Promise<StartOutcome> } {
    const command = claim(randomToken()) as never;
    const started = node.actors.startRun(facts, command, { onlyComputes: true });
    const run = granted.at(-1);
    assert.ok(run?.facts.runId === facts.runId, 'it is granted at once');
    return { run, started };
  }
  const row = async (run: Run) => (await db.load(run.facts.runId)) ?? null;
  const report = (run: RunningRun, command: RunCommand) => node.tell(run, command);

  async function asked(): Promise<RunningRun> {
    const { run } = begin();
    await report(run, ask(run.token, 1, 'q_1', null));
    return run;
  }

  test('is granted before its commit, and committed once, with what its worker reports', async () => {
    const { run, started } = begin();
    assert.equal(await row(run), null);
    const [recorded, finished] = await Promise.all([
      report(run, recordStep(run.token, 1, 'a')),
      report(run, succeed(run.token, 2)),
    ]);
    assert.deepEqual([recorded.kind, finished.kind, (await started).kind], ['accepted', 'accepted', 'started']);
    assert.equal(node.batches.length, 1);
    const ended = await row(run);
    assert.ok(ended?.status === 'succeeded');
    assert.deepEqual(
      [ended.revision, ended.attempts, ended.token, ended.resultJson, ended.steps.map(({ path }) => path)],
      [1, 1, run.token, '1', ['a']],
    );
    assert.equal(ended.startedAtMs, run.startedAtMs);
  });

  test('is committed like any other after a moment without its worker, and continues from there', async () => {
    const { run, started } = begin();
    clock.forward(HOLD_MS - 1);
    assert.equal(node.batches.length, 0);
    clock.forward(1);
    assert.equal((await started).kind, 'started');
    assert.deepEqual([(await row(run))?.status, (await row(run))?.token], ['running', run.token]);
    assert.equal((await report(run, succeed(run.token, 1))).kind, 'accepted');
    assert.equal((await row(run))?.status, 'succeeded');
  });

  test('that asks is committed once with its question, and once with its answer and its end', async () => {
    const run = await asked();
    assert.deepEqual([node.batches.length, (await row(run))?.status], [1, 'waiting']);
    const token = randomToken();
    const [told, claimed] = node.actors.tellAndClaim(
      { orgId: run.facts.orgId, runId: run.facts.runId },
      answer('q_1', 'aa'),
      claim(token) as never,
    );
    assert.equal(granted.at(-1)?.token, token);
    assert.equal((await row(run))?.status, 'waiting');
    await report(run, succeed(token, 1));
    assert.deepEqual([(await told).kind, (await claimed).kind], ['accepted', 'accepted']);
    const ended = await row(run);
    assert.deepEqual([node.batches.length, ended?.status, ended?.revision], [2, 'succeeded', 2]);
    assert.deepEqual([ended?.answers.length, ended?.answers[0]?.questionId], [1, 'q_1']);
  });

  test('is not granted for an answer that is refused or comes from another organization', async () => {
    const run = await asked();
    for (const [orgId, command] of [
      [run.facts.orgId, answer('q_other', 'aa')],
      ['org_b', answer('q_1', 'aa')],
    ] as const) {
      const both = node.actors.tellAndClaim({ orgId, runId: run.facts.runId }, command, claim(randomToken()) as never);
      assert.deepEqual(
        (await Promise.all(both)).map(({ kind }) => kind),
        ['refused', 'refused'],
      );
    }
    assert.deepEqual([granted.length, (await row(run))?.status], [1, 'waiting']);
  });

  test('is invisible to readers before its commit', async () => {
    const { run, started } = begin();
    const { orgId, runId } = run.facts;
    assert.equal(node.actors.resident({ orgId, runId }), null);
    assert.equal(node.actors.granted({ orgId, runId })?.token, run.token);
    assert.equal(node.actors.granted({ orgId: 'org_b', runId }), null);
    clock.forward(HOLD_MS);
    await started;
    assert.equal(node.actors.resident({ orgId, runId })?.status, 'running');
  });

  test('is known to its worker even while its late commit is in flight', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    node.between = async (commit) => {
      await held;
      return commit();
    };
    const { run, started } = begin();
    clock.forward(HOLD_MS);
    await until('its commit is under way', () => node.batches.length === 1);
    assert.equal(node.actors.granted(run.facts)?.token, run.token);
    release();
    await started;
  });

  for (const [what, command, status, cancelRequested] of [
    ['cancelled', cancel, 'running', true],
    ['given back', 'return', 'queued', undefined],
  ] as const) {
    test(`that is ${what} before its commit has that in its row`, async () => {
      const { run, started } = begin();
      await report(run, command === 'return' ? returnGrant(run.token) : command);
      await started;
      const kept = await row(run);
      assert.equal(kept?.status, status);
      assert.equal(kept?.status === 'running' ? kept.cancelRequested : undefined, cancelRequested);
      assert.equal(node.batches.length, 1);
    });
  }

  test('leaves nothing behind if another run has its key', async () => {
    const first = begin();
    await report(first.run, succeed(first.run.token, 1));
    const { idempotencyHash, requestDigest } = first.run.facts;
    const again = begin(newFacts(0, { webhookUrl: null, idempotencyHash, requestDigest }));
    const finished = await report(again.run, succeed(again.run.token, 1));
    assert.equal(finished.kind, 'failed');
    const outcome = await again.started;
    assert.ok(outcome.kind === 'replayed' && outcome.run.facts.runId === first.run.facts.runId);
    assert.equal(await row(again.run), null);
    const later = await report(again.run, succeed(again.run.token, 1));
    assert.ok(later.kind === 'refused' && later.code === 'not_found');
  });

  test('is not committed if its shard is lost, and its start fails', async () => {
    const { run, started } = begin();
    node.lose([0]);
    const outcome = await started;
    assert.ok(outcome.kind === 'failed' && outcome.code === 'wrong_shard');
    clock.forward(HOLD_MS);
    assert.deepEqual([node.batches.length, await row(run)], [0, null]);
  });

  test('is read after a commit without a reply, and exists once', async () => {
    node.between = async (commit) => {
      node.between = (next) => next();
      await commit();
      throw new Error('connection lost');
    };
    const { run, started } = begin();
    assert.equal((await report(run, succeed(run.token, 1))).kind, 'accepted');
    assert.deepEqual([(await started).kind, (await row(run))?.status], ['started', 'succeeded']);
  });
});
