import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { answer, ask, cancel, claim, giveBack, recordStep, succeed } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import type { RecordStep } from '../run/run-command.ts';
import { newFacts, TestStore } from '../store/run-store.fixture.ts';
import { type DeliveredGrant, GrantDesk } from './grant-desk.ts';
import { quietLeases } from './lease-table.fixture.ts';
import type { LeaseTable } from './lease-table.ts';

const ADDRESS = { nodeId: 'node_worker', creditId: 7 };

describe('claimed runs on their way to a worker', () => {
  let db: TestStore;
  let node: TestActors;
  let leases: LeaseTable;
  let desk: GrantDesk;
  let delivered: DeliveredGrant[];
  let returned: string[];
  let tooLarge: string[];
  let failReads: boolean;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());

  beforeEach(async () => {
    node = await TestActors.on(db);
    [delivered, returned, tooLarge, failReads] = [[], [], [], false];
    leases = quietLeases();
    const unlessFailed = <Steps>(read: () => Promise<Steps>) =>
      failReads ? Promise.reject(new Error('no database')) : read();
    desk = new GrantDesk({
      store: {
        keptSteps: (orgId, runId) => unlessFailed(() => db.store.keptSteps(orgId, runId)),
        keptStepsOf: (runs) => unlessFailed(() => db.store.keptStepsOf(runs)),
      },
      leases,
      returnGrant: (runId) => returned.push(runId),
      tooLarge: (runId) => tooLarge.push(runId),
      epochOf: (shard) => node.epochs.get(shard) ?? null,
      deliver: (grant) => delivered.push(grant) > 0,
      logger: silentLogger,
    });
    node.actors.listen(desk);
  });

  async function claimed(run: Run, token = 't2'): Promise<void> {
    desk.expect(token, ADDRESS);
    assert.equal((await node.tell(run, claim(token))).kind, 'accepted');
  }

  /** Stores a run that was executed before, kept these outs, and is queued again. */
  async function goesOn(outs: readonly string[], end: 'answered' | 'given back' = 'given back'): Promise<Run> {
    const run = await node.running();
    for (const [i, outJson] of outs.entries()) {
      await node.tell(run, { ...recordStep(run.token, i + 1, `step${i}`), outJson } as never);
    }
    const seq = outs.length + 1;
    if (end === 'given back') await node.tell(run, giveBack(run.token, seq));
    else {
      await node.tell(run, ask(run.token, seq, 'q_1', null));
      await node.tell(run, answer('q_1', 'd'));
    }
    desk.forget(run.token);
    returned.length = 0;
    return run;
  }

  test('a run goes to the place it was claimed for, under a lease and the epoch of its shard', async () => {
    node.epochs.set(0, 1);
    const run = await node.started();
    await claimed(run);
    const [grant] = delivered;
    assert.deepEqual([grant?.nodeId, grant?.creditId, grant?.workerSession], ['node_worker', 7, 'worker.1']);
    assert.deepEqual([grant?.grant.token, grant?.grant.attempt, grant?.grant.epoch], ['t2', 1, 1]);
    assert.equal(leases.get(run.facts.runId, 't2')?.accepted, false);
  });

  test('a run may be granted before its commit, and is granted once', async () => {
    node.actors.listenEarly((run) => desk.grantEarly(run));
    desk.expect('t2', ADDRESS);
    const started = node.actors.startRun(newFacts(0), claim('t2') as never, { onlyComputes: true });
    assert.deepEqual(
      delivered.map(({ grant }) => grant.token),
      ['t2'],
    );
    const { runId } = ((await started) as { run: Run }).run.facts;
    assert.equal(delivered.length, 1);
    assert.equal(leases.get(runId, 't2')?.accepted, false);
    assert.deepEqual([desk.expects('t2'), desk.forget('t2'), returned], [false, false, []]);
  });

  test('a run granted before its commit loses its lease if the commit fails', async () => {
    node.actors.listenEarly((run) => desk.grantEarly(run));
    desk.expect('t2', ADDRESS);
    const started = node.actors.startRun(newFacts(0), claim('t2') as never, { onlyComputes: true });
    node.lose([0]);
    assert.equal((await started).kind, 'failed');
    assert.deepEqual([leases.size, desk.forget('t2'), leases.size, desk.forget('t2')], [1, true, 0, false]);
  });

  test('a grant carries finished steps and the answer, in order', async () => {
    const run = await goesOn(['1', '{"a":2}'], 'answered');
    await claimed(run);
    const { grant } = await until('it is delivered', () => delivered[0]);
    assert.deepEqual(
      grant.finishedSteps?.map((step) => [step.path, step.outJson]),
      [
        ['step0', '1'],
        ['step1', '{"a":2}'],
      ],
    );
    assert.deepEqual([grant.answer?.questionId, grant.attempt], ['q_1', 1]);
  });

  test('a grant gives the reason of a failed step', async () => {
    const run = await node.running();
    const error = { kind: 'http', message: 'The server said 503', status: 503, line: 6 };
    const failed = recordStep(run.token, 2, 'second') as RecordStep;
    await node.tell(run, recordStep(run.token, 1));
    await node.tell(run, { ...failed, step: { ...failed.step, status: 'failed', error } });
    await node.tell(run, giveBack(run.token, 3));
    await claimed(run);
    const { grant } = await until('it is delivered', () => delivered[0]);
    assert.deepEqual(
      grant.finishedSteps?.map((step) => [step.path, step.error]),
      [
        ['first', undefined],
        ['second', error],
      ],
    );
  });

  test('a grant is sent even if the errors of its steps do not all fit', async () => {
    const run = await node.running();
    const error = { kind: 'http', message: 'x'.repeat(4_000), status: 503, line: 6 };
    const failures = Array.from({ length: 999 }, (_, i) => {
      const record = recordStep(run.token, i + 1, `each[${i}]`) as RecordStep;
      return node.tell(run, { ...record, step: { ...record.step, status: 'failed', error } });
    });
    await Promise.all([...failures, node.tell(run, giveBack(run.token, 1_000))]);
    await claimed(run);
    const { grant } = await until('it is delivered', () => delivered[0]);
    const told = grant.finishedSteps?.filter((step) => step.error !== undefined).length ?? 0;
    assert.deepEqual([grant.finishedSteps?.length, told > 850 && told < 999, tooLarge], [999, true, []]);
  });

  test('a run whose steps cannot be read is returned', async () => {
    const run = await goesOn(['1']);
    failReads = true;
    await claimed(run);
    await until('it goes back', () => returned.length === 1);
    assert.deepEqual(delivered, []);
  });

  test('a run too large for a message fails instead of circulating', async () => {
    const run = await goesOn(Array.from({ length: 4 }, () => `"${'x'.repeat(1_000_000)}"`));
    await claimed(run);
    await until('it ends', () => tooLarge.length === 1);
    assert.deepEqual([delivered, returned], [[], []]);
  });

  test('a run whose place is no longer known is returned', async () => {
    const run = await node.started();
    await node.tell(run, claim('t2'));
    assert.deepEqual([returned, delivered], [[run.facts.runId], []]);
  });

  test('a run that changed further in the commit of its claim needs no grant', async () => {
    const run = await node.started({ webhookUrl: null });
    desk.expect('t2', ADDRESS);
    await Promise.all([node.tell(run, claim('t2')), node.tell(run, succeed('t2', 1))]);
    assert.deepEqual([delivered, returned, leases.size], [[], [], 0]);
  });

  test('a claim is expected until it is decided, either way', async () => {
    const [run, gone] = [await node.started(), await node.started()];
    desk.expect('t2', ADDRESS);
    assert.equal(desk.expects('t2'), true);
    await node.tell(run, claim('t2'));
    assert.equal(desk.expects('t2'), false);
    await node.tell(gone, cancel);
    desk.expect('t3', ADDRESS);
    assert.equal((await node.tell(gone, claim('t3'))).kind, 'refused');
    desk.forget('t3');
    assert.equal(desk.expects('t3'), false);
  });
});
