import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { silentLogger } from '@methods/logging/logger';
import { type TestNats, testNats } from '@methods/test/harness/nats';
import { until } from '@methods/test/harness/until';
import { connect, type NatsConnection } from 'nats';
import { Bus } from './connection.ts';
import { LostConnections } from './lost-connections.fixture.ts';
import type { CommandMailbox } from './shard-commands.ts';
import { consumerNames, RUN_COMMANDS } from './streams.ts';
import { commandDelivery, runCommand } from './subjects.ts';

const bytes = (value: string) => new TextEncoder().encode(value);

interface Received {
  readonly shard: number;
  readonly text: string;
  readonly epoch: number;
  readonly deliveries: number;
  readonly ack: () => void;
}

describe('the mailbox of shards', () => {
  let nats: TestNats;
  let admin: NatsConnection;
  const buses: Bus[] = [];

  const open = (node: string, logger = silentLogger) => {
    const bus = new Bus({ url: nats.url, name: node, logger });
    buses.push(bus);
    const received: Received[] = [];
    const lost: number[] = [];
    const mailbox: CommandMailbox = bus.consumeShardCommands({
      deliverTo: commandDelivery(node),
      onMessage: (shard, data, ack, info) =>
        void received.push({ shard, text: new TextDecoder().decode(data), ack, ...info }),
      onLost: (shard) => void lost.push(shard),
    });
    bus.start();
    return { bus, mailbox, received, lost };
  };
  const names = () => consumerNames(admin, RUN_COMMANDS);
  const send = (bus: Bus, shard: number, text: string) => bus.publishDurable(runCommand(shard), bytes(text));
  const ready = (bus: Bus) => new Promise<void>((resolve) => void bus.onConnected(() => resolve()));

  before(async () => {
    nats = await testNats();
    admin = await connect({ servers: nats.url });
  });
  after(async () => {
    await admin.close();
    await Promise.all(buses.map((bus) => bus.stop()));
    await nats.stop();
  });

  test('delivers commands sent before and after the owner took the shard, until they are acknowledged', async () => {
    const { bus, mailbox, received } = open('first');
    await ready(bus);
    await send(bus, 1, 'before');
    mailbox.own(1, 5);
    await until('the early command', () => received.some((command) => command.text === 'before'));
    await send(bus, 1, 'after');
    const command = await until('the second delivery', () =>
      received.find((one) => one.text === 'after' && one.deliveries === 2),
    );
    assert.equal(command.epoch, 5);
    for (const one of received) one.ack();
    const manager = await admin.jetstreamManager();
    await until('everything acknowledged', async () => {
      const info = await manager.consumers.info(RUN_COMMANDS, 'shard-1-5');
      return info.num_ack_pending === 0 && info.num_pending === 0;
    });
    mailbox.disown(1);
    await until('the consumer is gone', async () => !(await names()).includes('shard-1-5'));
  });

  test('creates the consumers of many shards at once, replacing those of older epochs', async () => {
    const [old, next] = [open('old'), open('next')];
    await Promise.all([ready(old.bus), ready(next.bus)]);
    const shards = Array.from({ length: 128 }, (_, n) => 100 + n);
    for (const shard of shards) old.mailbox.own(shard, 1);
    await until('all consumers', async () => (await names()).filter((name) => name.endsWith('-1')).length === 128);
    await Promise.all(shards.map((shard) => send(old.bus, shard, `command ${shard}`)));
    for (const shard of shards) next.mailbox.own(shard, 2);
    await until('all replaced', async () => (await names()).filter((name) => name.endsWith('-2')).length === 128);
    await until(
      'every unacknowledged command at the new owner',
      () => new Set(next.received.map((one) => one.shard)).size === 128,
    );
    assert.ok(next.received.every((one) => one.text === `command ${one.shard}` && one.epoch === 2));
    await until('the old owner knows', () => old.lost.length === 128);
    for (const one of next.received) one.ack();
    next.mailbox.close();
    old.mailbox.close();
  });

  test('delivers the commands of a frozen owner to its successor, and none to the owner when it continues', async () => {
    const owner = nodeArguments(new URL('./shard-owner.fixture.ts', import.meta.url));
    const frozen = spawn(process.execPath, [...owner, nats.url, '9', '1'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    frozen.stdout.on('data', (chunk) => {
      said += chunk;
    });
    const taker = open('taker');
    try {
      await ready(taker.bus);
      await until('the owner has its consumer', async () => (await names()).includes('shard-9-1'));
      await send(taker.bus, 9, 'seen');
      await until('the owner got a command', () => said.includes('got seen'));
      frozen.kill('SIGSTOP');
      const texts = Array.from({ length: 10 }, (_, n) => `frozen-${n}`);
      await Promise.all(texts.map((one) => send(taker.bus, 9, one)));
      taker.mailbox.own(9, 2);
      await until('all commands at the taker', () =>
        texts.every((one) => taker.received.some((got) => got.text === one)),
      );
      assert.ok(!(await names()).includes('shard-9-1'), 'nothing waits for an acknowledgement of the frozen one');
      assert.ok(taker.received.some((got) => got.text === 'seen'));
      for (const one of taker.received) one.ack();
      frozen.kill('SIGCONT');
      await until('the thawed one finds its successor', () => said.includes('lost 9'));
      assert.deepEqual(
        (await names()).filter((name) => name.startsWith('shard-9-')),
        ['shard-9-2'],
      );
      await send(taker.bus, 9, 'after the thaw');
      await until('the taker has it', () => taker.received.some((got) => got.text === 'after the thaw'));
      assert.ok(!said.includes('after the thaw'));
    } finally {
      frozen.kill('SIGKILL');
    }
  });

  test('creates its consumers again after NATS was killed, and after it lost its data', async () => {
    const lost = new LostConnections();
    const { bus, mailbox, received } = open('survivor', lost.logger);
    await ready(bus);
    mailbox.own(20, 3);
    await send(bus, 20, 'one');
    await until('one', () => received.some((got) => got.text === 'one'));
    for (const outage of ['kill', 'wipe'] as const) {
      const before = lost.count;
      if (outage === 'kill') {
        await nats.kill();
        await nats.restart();
      } else {
        await nats.wipe();
      }
      await until(`its connection is lost by the ${outage}`, () => lost.count > before);
      await until(`sent after the ${outage}`, () =>
        send(bus, 20, outage).then(
          () => true,
          () => false,
        ),
      );
      await until(`delivered after the ${outage}`, () => received.some((got) => got.text === outage));
    }
    await admin.close();
    admin = await connect({ servers: nats.url });
    const manager = await admin.jetstreamManager();
    await manager.consumers.delete(RUN_COMMANDS, 'shard-20-3');
    await send(bus, 20, 'alone');
    await until('found missing at the next look', () => received.some((got) => got.text === 'alone'));
  });
});
