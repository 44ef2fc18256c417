import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Bus } from '@methods/bus/connection';
import * as subjects from '@methods/bus/subjects';
import { silentLogger } from '@methods/logging/logger';
import {
  HeldHeartbeatsSchema,
  LiveChangesSchema,
  RegistryChangedSchema,
  RunCommandRepliesSchema,
} from '@methods/proto/event/v1/event_pb';
import { type TestNats, testNats } from '@methods/test/harness/nats';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { runs } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { newFacts, TestStore } from '../store/run-store.fixture.ts';
import { BusNode } from './bus-node.fixture.ts';
import { LiveChanges } from './live-changes.ts';

describe("a node's subjects", () => {
  let nats: TestNats;
  let db: TestStore;
  let here: BusNode;
  let there: BusNode;

  before(async () => {
    [nats, db] = await Promise.all([testNats(), TestStore.open()]);
    const actors = await TestActors.on(db);
    here = new BusNode(nats.url, actors, () => 'nobody');
    there = new BusNode(nats.url, actors, () => 'nobody');
    await until('both are connected', () => here.connects > 0 && there.connects > 0);
  });
  after(async () => {
    await Promise.all([here.bus.stop(), there.bus.stop(), db.close()]);
    await nats.stop();
  });

  test('replies too large for one message are sent in parts, and all arrive', async () => {
    const replies = Array.from({ length: 5 }, (_, i) => ({
      commandId: `c${i}`,
      outcome: { case: 'error' as const, value: { code: 'unavailable', message: 'x'.repeat(1_500_000) } },
    }));
    here.bus.publishReplies(there.bus.replySubject, replies);
    const arrived = () => there.replies.flatMap((body) => fromBinary(RunCommandRepliesSchema, body).replies);
    await until('all are there', () => arrived().length === 5);
    assert.deepEqual(
      arrived()
        .map((reply) => reply.commandId)
        .sort(),
      ['c0', 'c1', 'c2', 'c3', 'c4'],
    );
    assert.ok(there.replies.length > 1);
  });

  test('a reply that no message can carry is reported as too large, and the replies beside it arrive', async () => {
    const before = there.replies.length;
    const view = { runId: 'run_a' as const, resultJson: 'x'.repeat(5_000_000) };
    here.bus.publishReplies(there.bus.replySubject, [
      { commandId: 'huge', outcome: { case: 'run', value: view } },
      { commandId: 'small', outcome: { case: 'run', value: { runId: 'run_b' } } },
    ]);
    const arrived = () =>
      there.replies.slice(before).flatMap((body) => fromBinary(RunCommandRepliesSchema, body).replies);
    await until('both are there', () => arrived().length === 2);
    assert.deepEqual(
      arrived().map(({ commandId, outcome }) => [
        commandId,
        outcome.case === 'error' ? outcome.value.code : outcome.case,
      ]),
      [
        ['huge', 'too_large'],
        ['small', 'run'],
      ],
    );
  });

  test('a message that cannot be read does not affect those that arrive with it', async () => {
    const before = here.keysChanged.length;
    const registry = new Bus({ url: nats.url, name: 'registry', logger: silentLogger });
    registry.start();
    await until('it is connected', () => registry.connected);
    const subject = subjects.registryChanged('org_a');
    const change = (id: string) => toBinary(RegistryChangedSchema, create(RegistryChangedSchema, { kind: 'key', id }));
    for (const body of [change('key_1'), Buffer.alloc(100, 0xff), change('key_2')]) registry.publish(subject, body);
    await until('the good ones are there', () => here.keysChanged.length === before + 2);
    here.keysChanged.splice(before);
    await registry.stop();
  });

  test('heartbeats reach their node, with their sender and ages', async () => {
    const list = [{ runId: 'run_a' as const, token: 't', ageMs: 12 }];
    const body = toBinary(HeldHeartbeatsSchema, create(HeldHeartbeatsSchema, { fromNode: here.nodeId, runs: list }));
    assert.equal(await here.bus.publishHeartbeats(there.nodeId, body), true);
    await until('they are there', () => there.heartbeats.length === 1);
    const [heard] = there.heartbeats;
    assert.deepEqual([heard?.from, heard?.runs[0]?.ageMs], [here.nodeId, 12]);
    assert.equal(here.heartbeats.length, 0);
  });

  test('only changes of keys in a registry reach a node', async () => {
    const registry = new Bus({ url: nats.url, name: 'registry', logger: silentLogger });
    registry.start();
    await until('it is connected', () => registry.connected);
    for (const change of [
      { kind: 'method', id: 'wf_a' },
      { kind: 'settings', id: 'org_a', orgId: 'org_a' as const },
      { kind: 'endpoint', id: 'ep_a', orgId: 'org_b' as const },
      { kind: 'key', id: 'key_a' },
    ]) {
      registry.publish(
        subjects.registryChanged('org_a'),
        toBinary(RegistryChangedSchema, create(RegistryChangedSchema, change)),
      );
    }
    await until('it is announced', () => here.keysChanged.length > 0);
    assert.deepEqual([here.keysChanged, here.settingsChanged], [['key_a'], ['org_a', 'endpoints of org_b']]);
    await registry.stop();
  });

  test('runs at rest are announced in one message a shard and turn, to the nodes that watch the shard, while there are other nodes', async () => {
    const published: number[] = [];
    let peers = true;
    const clock = new ManualClock();
    const changes = new LiveChanges({
      clock,
      shardCount: 256,
      owns: (shard) => shard !== 3,
      hasPeers: () => peers,
      publish: (shard, body) => {
        published.push(shard);
        here.bus.publishLive(shard, body);
      },
    });
    const ofShard = (shard: number, run: Run): Run => ({ ...run, facts: newFacts(shard) });
    there.bus.watchShard(1, true);
    const told = [runs.succeeded, runs.waiting, runs.cancelled].map((run) => ofShard(1, run));
    await until('one is heard', () => {
      for (const run of [...told, ofShard(2, runs.failed)]) changes.committed(null, run);
      for (const busy of [runs.queued, runs.running]) changes.committed(null, ofShard(1, busy));
      return there.changedElsewhere.length > 0;
    });
    assert.deepEqual(published.slice(0, 2), [1, 2]);
    assert.deepEqual(
      there.changedElsewhere.slice(0, 3),
      told.map((run) => run.facts.runId),
    );
    await new Promise(setImmediate);
    peers = false;
    const before = published.length;
    changes.committed(null, ofShard(1, runs.succeeded));
    await new Promise(setImmediate);
    assert.equal(published.length, before);
    there.bus.watchShard(1, false);
  });

  test('every change of a run that another node watches step by step is announced, for as long as it watches', async () => {
    const clock = new ManualClock();
    let sent: number[] = [];
    const changes = new LiveChanges({
      clock,
      shardCount: 256,
      owns: (shard) => shard === 1,
      hasPeers: () => true,
      publish: (_shard, body) => sent.push(...fromBinary(LiveChangesSchema, body).changes.map((c) => c.revision)),
    });
    const told = async () => {
      await new Promise(setImmediate);
      const since = sent;
      sent = [];
      return since;
    };
    const run = { ...runs.running, facts: newFacts(1), revision: 7 };
    there.bus.publishWatched([run.facts.runId, newFacts(2).runId]);
    const runIds = await until('it is heard', () => here.stepsWatched.length === 2 && here.stepsWatched);
    changes.committed(null, run);
    assert.deepEqual(await told(), []);
    // At first the watcher reads once, for changes that it has missed.
    changes.watchedElsewhere(runIds);
    assert.deepEqual(await told(), [0]);
    changes.watchedElsewhere(runIds);
    changes.committed(null, run);
    changes.committed(null, { ...runs.running, facts: newFacts(1) });
    assert.deepEqual(await told(), [7]);
    clock.forward(10_001);
    changes.committed(null, run);
    assert.deepEqual(await told(), []);
  });
});
