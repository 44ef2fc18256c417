import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { newRunId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { ManualClock } from '../manual-clock.fixture.ts';
import { ask, cancel, claim, recordStep, succeed } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { EPOCH, newFacts, TestStore } from '../store/run-store.fixture.ts';
import { TestActors } from './test-actors.fixture.ts';

const IDLE_MAX = 2_048;
const IDLE_MS = 5_000;

describe("a node's actors", () => {
  let db: TestStore;
  let clock: ManualClock;
  let node: TestActors;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    clock = new ManualClock();
    node = await TestActors.on(db, silentLogger, clock);
  });

  async function statusOf(run: Run): Promise<string | undefined> {
    return (await db.load(run.facts.runId))?.status;
  }

  async function idleFor(ms: number): Promise<void> {
    // A reply arrives a moment before its actor has nothing to do.
    await new Promise(setImmediate);
    clock.forward(ms);
    node.actors.sweep();
  }

  test('a run has one actor, for any number of concurrent commands', async () => {
    const run = await node.started();
    await idleFor(IDLE_MS);
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => node.tell(run, claim(`t${i}`))));
    assert.equal(node.actors.size, 1);
    assert.equal(outcomes.filter((outcome) => outcome.kind === 'accepted').length, 1);
    assert.equal((await db.load(run.facts.runId))?.revision, run.revision + 1);
  });

  test('commands are decided in the order they arrived', async () => {
    const run = await node.started();
    const told = [claim('t1'), recordStep('t1', 1, 'a'), recordStep('t1', 2, 'b'), succeed('t1', 3), cancel];
    const outcomes = await Promise.all(told.map((command) => node.tell(run, command)));
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.code : outcome.kind)),
      ['accepted', 'accepted', 'accepted', 'accepted', 'run_finished'],
    );
    const finished = await db.load(run.facts.runId);
    assert.deepEqual([finished?.status, finished?.steps.map((step) => step.path)], ['succeeded', ['a', 'b']]);
  });

  test('an idle actor is removed after 5 s, and the run is loaded from its row again', async () => {
    const queued = await node.started();
    const waiting = await node.running();
    await node.tell(waiting, ask(waiting.token, 1));
    await idleFor(IDLE_MS - 1);
    assert.equal(node.actors.size, 2);
    await idleFor(1);
    assert.equal(node.actors.size, 0);
    for (const run of [queued, waiting]) {
      assert.equal((await node.tell(run, cancel)).kind, 'accepted');
      assert.equal(await statusOf(run), 'cancelled');
    }
  });

  test('an actor that receives commands is not idle', async () => {
    const run = await node.started();
    await idleFor(IDLE_MS - 1);
    await node.tell(run, recordStep('nobody', 1));
    await idleFor(IDLE_MS - 1);
    assert.equal(node.actors.size, 1);
  });

  test('the actor of a running run is kept while it runs, that of a finished one is removed at once', async () => {
    const run = await node.running();
    await idleFor(3_600_000);
    assert.equal(node.actors.size, 1);
    await node.tell(run, succeed(run.token, 1));
    await until('it is gone', () => node.actors.size === 0);
  });

  test('the end of a run without a webhook is an event only if an endpoint takes it', async () => {
    const ends = async () => {
      const run = await node.running({ webhookUrl: null });
      await node.tell(run, succeed(run.token, 1));
      return (node.batches.at(-1) ?? []).flatMap(({ events }) => events).length;
    };
    assert.equal(await ends(), 0);
    node.taken.add('failed');
    assert.equal(await ends(), 0);
    node.taken.add('succeeded');
    assert.equal(await ends(), 1);
  });

  test('a missing run leaves no actor behind', async () => {
    const outcome = await node.actors.tell('org_a', newRunId(0), cancel);
    assert.deepEqual(outcome, { kind: 'refused', code: 'not_found', run: null });
    await until('nobody is left', () => node.actors.size === 0);
  });

  test('at most 2,048 idle actors are kept in memory, and the others can still be reached', async () => {
    const runs = await Promise.all(Array.from({ length: IDLE_MAX + 150 }, (_, i) => node.started({ shard: i % 4 })));
    await until('the rest was let go', () => node.actors.size === IDLE_MAX);
    const [first] = runs as [Run];
    assert.equal(node.actors.resident(first.facts), null);
    assert.equal((await node.tell(first, cancel)).kind, 'accepted');
  });

  test('actors of a lost shard are dropped and their callers redirected, those of another shard are kept', async () => {
    const [lost, kept] = [await node.started({ shard: 1 }), await node.started({ shard: 2 })];
    const told = node.tell(lost, cancel);
    node.lose([1]);
    // Taken back at once: earlier commands are decided again by the actor that reads the row.
    node.epochs.set(1, EPOCH);
    assert.deepEqual(await told, { kind: 'failed', code: 'wrong_shard' });
    node.lose([1]);
    assert.deepEqual(await node.tell(lost, cancel), { kind: 'failed', code: 'wrong_shard' });
    assert.deepEqual([node.actors.resident(lost.facts), await statusOf(lost)], [null, 'queued']);
    assert.notEqual(node.actors.resident(kept.facts), null);
  });

  test('a malformed id names no run, and a resident run is hidden from other organizations', async () => {
    assert.equal((await node.actors.tell('org_a', 'run_!', cancel)).kind, 'refused');
    const run = await node.started();
    assert.equal(node.actors.resident({ runId: run.facts.runId, orgId: 'org_b' }), null);
  });

  test('a repeated start gets the first run; the same key for something else is a conflict', async () => {
    const first = await node.started();
    const { idempotencyHash, requestDigest } = first.facts;
    const repeat = await node.actors.startRun(newFacts(3, { idempotencyHash, requestDigest }), null);
    assert.ok(repeat.kind === 'replayed');
    assert.equal(repeat.run.facts.runId, first.facts.runId);
    const other = await node.actors.startRun(newFacts(3, { idempotencyHash }), null);
    assert.deepEqual(other, { kind: 'failed', code: 'idempotency_conflict' });
    const another = await node.actors.startRun(newFacts(3, { idempotencyHash, orgId: 'org_b' }), null);
    assert.equal(another.kind, 'started');
  });

  test('many concurrent starts with one key create one run', async () => {
    const { idempotencyHash, requestDigest } = newFacts(0);
    const starts = Array.from({ length: 12 }, (_, i) =>
      node.actors.startRun(newFacts(i % 4, { idempotencyHash, requestDigest }), null),
    );
    const ids = (await Promise.all(starts)).map((outcome) => outcome.kind !== 'failed' && outcome.run.facts.runId);
    assert.equal(new Set(ids).size, 1);
  });

  for (const [what, happens] of [
    ['that happened unheard', true],
    ['that was lost', false],
  ] as const) {
    test(`a start whose commit ${what} is answered with the one run it made`, async () => {
      node.between = async (commit) => {
        node.between = (next) => next();
        if (happens) await commit();
        throw new Error('connection lost');
      };
      const run = await node.started({ webhookUrl: null }, claim('t1') as never);
      const row = await db.load(run.facts.runId);
      assert.deepEqual([row?.status, row?.revision, row?.attempts], ['running', 1, 1]);
      assert.deepEqual(node.bumped, [[0]]);
    });
  }

  test('a commit listener that fails blocks neither the others nor the reply', async () => {
    const heard: string[] = [];
    node.actors.listen({
      committed() {
        throw new Error('a fault of this listener');
      },
    });
    node.actors.listen({ committed: (_before, after) => heard.push(after.status) });
    const run = await node.started();
    assert.equal((await node.tell(run, cancel)).kind, 'accepted');
    assert.deepEqual(heard, ['queued', 'cancelled']);
  });
});
