import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { type TestNats, testNats } from '@methods/test/harness/nats';
import { until } from '@methods/test/harness/until';
import { connect } from 'nats';
import { BusError } from './bus-error.ts';
import { Bus } from './connection.ts';
import { LostConnections } from './lost-connections.fixture.ts';
import type { NodeBeat } from './nodes-bucket.ts';
import {
  registryChanged,
  runCommand,
  runEvent,
  runEventStored,
  runEvents,
  runHeartbeat,
  SubjectError,
  shardOfCommand,
} from './subjects.ts';

const bytes = (value: string) => new TextEncoder().encode(value);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

describe('the bus', () => {
  let nats: TestNats;
  const buses: Bus[] = [];
  const open = (name = 'test', logger = silentLogger) => {
    const bus = new Bus({ url: nats.url, name, logger });
    buses.push(bus);
    bus.start();
    return bus;
  };
  const ready = (bus: Bus) => new Promise<void>((resolve) => void bus.onConnected(() => resolve()));

  before(async () => {
    nats = await testNats();
  });
  after(async () => {
    await Promise.all(buses.map((bus) => bus.stop()));
    await nats.stop();
  });

  test('builds every subject and refuses parts that would name another', () => {
    assert.equal(runCommand(7), 'run.command.7');
    assert.equal(shardOfCommand('run.command.255'), 255);
    assert.equal(shardOfCommand('run.command.x'), null);
    assert.equal(runEvent('org_1', 'run_2'), 'run.event.org_1.run_2');
    for (const wrong of ['', 'a.b', '*', '>', 'a b', 'x'.repeat(65)]) {
      assert.throws(() => registryChanged(wrong), SubjectError);
    }
    for (const wrong of [-1, 1.5, 70_000, Number.NaN]) assert.throws(() => runCommand(wrong), SubjectError);
  });

  test('starts at once while NATS is absent, and works as soon as it is available', async () => {
    await nats.kill();
    const bus = open();
    const received: string[] = [];
    bus.subscribe('early', (messages) => received.push(...messages.map((message) => text(message.data))));
    assert.equal(bus.connected, false);
    assert.equal(bus.publish('early', bytes('lost')), false);
    await assert.rejects(
      bus.publishDurable(runCommand(1), bytes('x')),
      (error) => error instanceof BusError && error.code === 'not_connected',
    );
    const connected = ready(bus);
    await nats.restart();
    await connected;
    assert.equal(bus.connected, true);
    assert.equal(bus.publish('early', bytes('there')), true);
    await until('the message', () => received.includes('there'));
    await bus.publishDurable(runCommand(1), bytes('x'));
    assert.deepEqual(received, ['there']);
  });

  test('stops while NATS is absent', async () => {
    const bus = new Bus({ url: 'nats://127.0.0.1:1', name: 'nobody', logger: silentLogger });
    bus.start();
    await bus.stop();
    assert.equal(bus.connected, false);
  });

  // A drain on a connection that broke at that moment never settles.
  test('stops while NATS is stopping', async () => {
    const going = await testNats();
    for (let i = 0; i < 10; i++) {
      const bus = new Bus({ url: going.url, name: 'test', logger: silentLogger, stopWithinMs: 60_000 });
      bus.subscribe('any', () => {});
      bus.start();
      await ready(bus);
      await going.kill();
      const beganMs = performance.now();
      await bus.stop();
      assert.ok(performance.now() - beganMs < 30_000, 'it does not wait for a server that is gone');
      await going.restart();
    }
    await going.stop();
  });

  test('recovers after NATS lost all its data under connected clients', async () => {
    const lost = new LostConnections();
    const [one, two] = [open('one', lost.logger), open('two')];
    await Promise.all([ready(one), ready(two)]);
    const received: string[] = [];
    one.subscribe('news', (messages) => received.push(...messages.map((message) => text(message.data))));
    await nats.wipe();
    await until('the connections are back', () => lost.count > 0 && one.connected && two.connected);
    await Promise.all([ready(one), ready(two)]);
    await Promise.all([1, 2, 3].map((n) => two.publishDurable(runEvent('org', `run_${n}`), bytes('e'))));
    await two.nodes.put('node-1', bytes('beat'));
    two.publish('news', bytes('again'));
    await until('the subscription lives', () => received.includes('again'));
    assert.equal(lost.count, 1);
  });

  test('recreates streams that vanish without a reconnect', async () => {
    const bus = open();
    await ready(bus);
    const admin = await connect({ servers: nats.url });
    const manager = await admin.jetstreamManager();
    for (const name of ['RUN_COMMANDS', 'RUN_EVENTS', 'RUN_HEARTBEATS', 'KV_nodes']) await manager.streams.delete(name);
    await assert.rejects(bus.publishDurable(runCommand(3), bytes('x')), BusError);
    await until('a publish is taken', () =>
      bus.publishDurable(runCommand(3), bytes('x')).then(
        () => true,
        () => false,
      ),
    );
    // The bucket is created again after the streams.
    await until('a beat is taken', () =>
      bus.nodes.put('n', bytes('b')).then(
        () => true,
        () => false,
      ),
    );
    await admin.close();
  });

  test('notices a server that fell silent, long before a publish gives up', async () => {
    const lost = new LostConnections();
    const bus = open('silenced', lost.logger);
    await ready(bus);
    const began = performance.now();
    nats.freeze();
    try {
      const pending = bus.publishDurable(runCommand(4), bytes('x'), { timeoutMs: 120_000 });
      await assert.rejects(pending, BusError);
      await until('the connection is given up', () => lost.count === 1);
      assert.ok(performance.now() - began < 30_000, `${performance.now() - began} ms`);
      assert.equal(bus.publish('x', bytes('x')), false);
    } finally {
      nats.thaw();
    }
    await until('connected again', () => bus.connected);
  });

  test('sends many durable messages without waiting for each, and refuses more than it can hold', async () => {
    const bus = open();
    // A busy machine may give up the server in between: a lost connection loses its messages.
    await until('all that are sent are confirmed', async () => {
      await ready(bus);
      const outcomes = await Promise.all(
        Array.from({ length: 9000 }, (_, n) =>
          bus.publishDurable(runEvent('many', `run_${n}`), bytes('event'), { timeoutMs: 120_000 }).then(
            () => 'confirmed',
            (error: BusError) => error.code,
          ),
        ),
      );
      assert.deepEqual(new Set(outcomes.slice(8192)), new Set(['too_many_in_flight']));
      assert.ok(!outcomes.slice(0, 8192).includes('too_many_in_flight'));
      return outcomes.slice(0, 8192).every((outcome) => outcome === 'confirmed');
    });
  });

  test('refuses a message that the server would not take', async () => {
    const bus = open();
    await ready(bus);
    const large = new Uint8Array(5 * 1024 * 1024);
    assert.equal(bus.publish('x', large), false);
    await assert.rejects(
      bus.publishDurable(runCommand(1), large),
      (error) => error instanceof BusError && error.code === 'too_large',
    );
    assert.equal(bus.connected, true);
  });

  test('delivers events to one of several replicas, again when they are refused, and never the stored notices', async () => {
    await nats.wipe();
    const publisher = open();
    await ready(publisher);
    const taken: string[] = [];
    let refusals = 0;
    const replicas = [open('a'), open('b')];
    const subscriptions = replicas.map((replica) =>
      replica.consumeEvents({
        durable: 'notifier',
        filter: runEvents,
        maxInFlight: 100,
        onBatch(messages) {
          for (const message of messages) {
            if (message.deliveries === 1 && refusals < 5) {
              refusals++;
              message.nak(50);
            } else {
              taken.push(text(message.data));
              message.ack();
            }
          }
        },
      }),
    );
    const expected = Array.from({ length: 500 }, (_, n) => `event-${n}`);
    publisher.publish(runEventStored, bytes('stored'));
    await Promise.all(expected.map((event, n) => publisher.publishDurable(runEvent('org', `run_${n}`), bytes(event))));
    await until('all events', () => taken.length >= expected.length);
    assert.deepEqual([...taken].sort(), [...expected].sort());
    assert.equal(refusals, 5);

    taken.length = 0;
    await nats.wipe();
    await until('an event after the wipe', async () => {
      await publisher.publishDurable(runEvent('org', 'late'), bytes('late')).catch(() => {});
      return taken.includes('late');
    });
    for (const subscription of subscriptions) subscription.unsubscribe();
  });

  test('delivers heartbeats to the node they are for, including those of the last seconds after a consumer was lost', async () => {
    const [owner, sender] = [open('owner'), open('sender')];
    await Promise.all([ready(owner), ready(sender)]);
    const received: string[] = [];
    owner.watchHeartbeats('node-a', (messages) => received.push(...messages.map((message) => text(message.data))));
    sender.publish(runHeartbeat('node-b'), bytes('for another'));
    await until('a heartbeat', () => {
      sender.publish(runHeartbeat('node-a'), bytes('beat'));
      return received.includes('beat');
    });
    await nats.wipe();
    await until('a heartbeat after the wipe', () => {
      sender.publish(runHeartbeat('node-a'), bytes('after'));
      return received.includes('after');
    });
    assert.ok(!received.includes('for another'));
  });

  test('a stop in the middle of a request for the heartbeats warns of nothing', async () => {
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (...line: unknown[]) => void warned.push(line) } as typeof silentLogger;
    const bus = open('stopping', logger);
    await ready(bus);
    bus.watchHeartbeats('node-stopping', () => {});
    await bus.stop();
    assert.deepEqual(warned, []);
  });

  test('reports the beats and departures of nodes, and lists the nodes', async () => {
    const [watcher, node] = [open('watcher'), open('node')];
    await Promise.all([ready(watcher), ready(node)]);
    await node.nodes.put('early', bytes('1'));
    const seen: NodeBeat[] = [];
    watcher.nodes.watch((beats) => seen.push(...beats));
    await until('the stored beat', () => seen.some((beat) => beat.nodeId === 'early' && beat.data));
    await node.nodes.put('node-x', bytes('2'));
    await until('the new beat', () =>
      seen.some((beat) => beat.nodeId === 'node-x' && beat.data && text(beat.data) === '2'),
    );
    const admin = await connect({ servers: nats.url });
    const consumers: string[] = [];
    admin.subscribe('$JS.API.CONSUMER.>', { callback: (_, { subject }) => void consumers.push(subject) });
    assert.deepEqual((await watcher.nodes.list()).map((beat) => beat.nodeId).sort(), ['early', 'node-x']);
    await admin.flush();
    await admin.close();
    assert.deepEqual(consumers, [], 'a consumer waits forever for a beat that expired in between');
    await node.nodes.delete('node-x');
    await until('the leave', () => seen.some((beat) => beat.nodeId === 'node-x' && beat.data === null));
    assert.deepEqual(
      (await watcher.nodes.list()).map((beat) => beat.nodeId),
      ['early'],
    );
    await until('the end of a beat that is not renewed', async () => (await watcher.nodes.list()).length === 0);
  });
});
