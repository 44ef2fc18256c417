import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type TestNats, testNats } from '@methods/test/harness/nats';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { answer, ask, cancel } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { BusNode } from './bus-node.fixture.ts';
import type { RunOwners } from './run-owners.ts';

type Command = Parameters<RunOwners['tell']>[2];
const theAnswer = answer('q_1', 'aa') as Command;
const theCancel = cancel as Command;

describe('answers and cancels on JetStream', () => {
  let nats: TestNats;
  let db: TestStore;
  let actors: TestActors;
  let owner: string;
  let epoch = 0;
  let nodes: BusNode[];

  before(async () => {
    [nats, db] = await Promise.all([testNats(), TestStore.open()]);
  });
  after(async () => {
    await db.close();
    await nats.stop();
  });
  beforeEach(async () => {
    actors = await TestActors.on(db);
    nodes = [];
  });
  afterEach(() => Promise.all(nodes.map((node) => node.bus.stop())));

  async function join(): Promise<BusNode> {
    const node = new BusNode(nats.url, actors, () => owner);
    nodes.push(node);
    await until('it is connected', () => node.connects > 0);
    return node;
  }

  /** Makes the node the owner of all shards. */
  function takes(node: BusNode): void {
    owner = node.nodeId;
    epoch++;
    node.bus.own([0, 1, 2, 3].map((shard) => ({ shard, epoch })));
  }

  async function waiting(): Promise<Run> {
    const run = await actors.running();
    const outcome = await actors.tell(run, ask(run.token, 1, 'q_1', null));
    assert.ok(outcome.kind === 'accepted');
    return outcome.run;
  }

  function tell(from: BusNode, run: Run, command: Command) {
    return from.owners.tell(run.facts.orgId, run.facts.runId, command);
  }

  async function revisionOf(run: Run): Promise<number> {
    return ((await db.load(run.facts.runId))?.revision ?? 0) - run.revision;
  }

  test('each command reaches the owner once, and the reply returns to the node that was asked', async () => {
    const [here, there] = [await join(), await join()];
    takes(there);
    const runs = [await waiting(), await waiting(), await actors.started()] as const;
    const told = [tell(here, runs[0], theAnswer), tell(here, runs[1], theCancel), tell(here, runs[2], theCancel)];
    const views = await Promise.all(told);
    assert.deepEqual(
      views.map((view) => view.runId),
      runs.map((run) => run.facts.runId),
    );
    assert.deepEqual([await revisionOf(runs[0]), await revisionOf(runs[1]), await revisionOf(runs[2])], [1, 1, 1]);
    assert.deepEqual([there.delivered, here.delivered], [3, 0]);
  });

  test('a command repeated after a lost acknowledgement changes nothing more', async () => {
    const [here, there] = [await join(), await join()];
    takes(there);
    const run = await waiting();
    there.acksLost = 1;
    await tell(here, run, theAnswer);
    await until('it came again', () => there.delivered === 2);
    assert.equal(await revisionOf(run), 1);
    // The consumer is then idle: the next command arrives by itself.
    const next = await waiting();
    await tell(here, next, theCancel);
    assert.equal(there.delivered, 3);
  });

  test('a command that an owner did not decide reaches the next one, and counts once when both decide it', async () => {
    const [here, frozen] = [await join(), await join()];
    takes(frozen);
    const run = await waiting();
    let goOn: (() => void) | null = null;
    actors.between = (commit) =>
      new Promise((resolve) => {
        goOn = () => resolve(commit());
      });
    const told = tell(here, run, theAnswer);
    await until('the first owner is about to commit', () => goOn !== null);
    const heir = new BusNode(nats.url, await TestActors.on(db), () => owner);
    nodes.push(heir);
    await until('it is connected', () => heir.connects > 0);
    takes(heir);
    assert.equal((await told).runId, run.facts.runId);
    assert.ok(heir.delivered > 0);
    (goOn as unknown as () => void)();
    await actors.committer.idle();
    assert.equal(await revisionOf(run), 1);
  });
});
