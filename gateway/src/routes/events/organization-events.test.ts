import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { newId, type RunId } from '@methods/base/ids';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { NewsDetail } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { OrganizationLog } from '../../events/organization-log.ts';
import { FollowedEvents } from '../../testing/followed-events.fixture.ts';
import { type GatewayFixture, gatewayFixture, until } from '../../testing/gateway.fixture.ts';
import type { SchedulerPeer } from '../../testing/scheduler-peer.fixture.ts';
import { turnedClock } from '../../testing/turned-clock.fixture.ts';

function follow(gateway: GatewayFixture, lastEventId?: string, query = '', key = gateway.apiKey.key) {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  };
  return FollowedEvents.of(`http://127.0.0.1:${gateway.port}/v1/events${query}`, headers);
}

async function ready(
  gateway: GatewayFixture,
  ...more: Parameters<typeof follow> extends [unknown, ...infer R] ? R : never
) {
  const following = await follow(gateway, ...more);
  await until(() => following.events.length > 0);
  return following;
}

async function startedRun(gateway: GatewayFixture): Promise<RunId> {
  const { body } = await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } });
  return body.run_id;
}

function nodeOf(gateway: GatewayFixture): SchedulerPeer {
  const [node] = gateway.nodes;
  assert.ok(node);
  return node;
}

/** Finishes a run, as the gateway receives it. */
async function finish(gateway: GatewayFixture, text: string): Promise<RunId> {
  const runId = await startedRun(gateway);
  const run = gateway.book.succeed(runId, JSON.stringify({ text }));
  nodeOf(gateway).news(gateway.orgId, NewsDetail.RESTS, run);
  return runId;
}

test('one connection gets every run that waits or has finished, as GET returns it', async () => {
  await using gateway = await gatewayFixture();
  const node = nodeOf(gateway);
  const following = await ready(gateway);
  const { headers, status } = following.response;
  assert.deepEqual(
    [status, headers.get('content-type'), headers.get('x-accel-buffering'), headers.get('cache-control')],
    [200, 'text/event-stream; charset=utf-8', 'no', 'no-store'],
  );
  const asking = await startedRun(gateway);
  node.news(gateway.orgId, NewsDetail.RESTS, gateway.book.ask(asking));
  const done = await finish(gateway, 'Hello Ada');
  await until(() => following.events.length === 3);
  assert.deepEqual(following.names, ['ready', 'run', 'run']);
  const [, first, second] = following.events;
  assert.equal(first?.data.question.prompt, 'Send it?');
  const bare = ({ timing: _timing, steps, ...run }: { timing: object; steps: { name: string }[] }) => ({
    ...run,
    steps: steps.map(({ name }) => name),
  });
  for (const [event, runId] of [
    [first, asking],
    [second, done],
  ] as const) {
    assert.deepEqual(bare(event?.data), bare((await gateway.ask('GET', `/v1/runs/${runId}`)).body));
  }
});

test('a reader that reconnects gets what it missed, by header or query, and one with an unknown id must read again', async () => {
  await using gateway = await gatewayFixture();
  const first = await ready(gateway);
  const runs = [await finish(gateway, 'one'), await finish(gateway, 'two')];
  await until(() => first.events.length === 3);
  first.leave();
  await until(() => first.over);
  runs.push(await finish(gateway, 'three'));
  const since = first.events[1]?.id ?? '';
  for (const again of [await ready(gateway, since), await ready(gateway, undefined, `?since=${since}`)]) {
    await until(() => again.events.length === 3);
    assert.deepEqual(
      again.events.map(({ event, id, data }) => [event, id, data.run_id]),
      [
        ['ready', since, undefined],
        ['run', first.events[2]?.id, runs[1]],
        ['run', `${since.split('-')[0]}-3`, runs[2]],
      ],
    );
  }
  const [ring] = since.split('-');
  const forged = [
    '0',
    '-1',
    'null',
    `${ring}-4`,
    `${ring}-99999999999999999999`,
    `${'0'.repeat(16)}-1`,
    'x'.repeat(5_000),
  ];
  for (const id of [...forged, `${ring}-1e1`, `${ring}--1`, `${ring}-`, "' or 1=1 --", '%0a%0d', '\u00ff']) {
    const lost = await ready(gateway, id);
    assert.deepEqual(lost.names, ['resync'], id);
    lost.leave();
  }
  const refused = await gateway.ask('GET', '/v1/events?since=a&since=b');
  assert.equal(refused.status, 400);
  assert.equal((await gateway.ask('GET', '/v1/events?sinc=a')).status, 400);
});

test('organizations are separate: no events of another, and no way to continue with its ids', async () => {
  await using gateway = await gatewayFixture();
  const other = newId('org');
  const { key } = gateway.registry.key(other);
  const [ours, theirs] = [await ready(gateway), await ready(gateway, undefined, '', key)];
  await finish(gateway, 'ours');
  await until(() => ours.events.length === 2);
  const stranger = await ready(gateway, ours.events[0]?.id ?? '', '', key);
  assert.deepEqual([theirs.names, stranger.names], [['ready'], ['resync']]);
});

test('a state that arrives late or twice is no event', async () => {
  await using gateway = await gatewayFixture();
  const following = await ready(gateway);
  const runId = await startedRun(gateway);
  const [asked, done] = [gateway.book.ask(runId), gateway.book.succeed(runId, '{}')];
  for (const run of [done, asked, done]) nodeOf(gateway).news(gateway.orgId, NewsDetail.RESTS, run);
  const next = await finish(gateway, 'next');
  await until(() => following.events.length === 3);
  assert.deepEqual(
    following.events.slice(1).map(({ data }) => [data.run_id, data.status]),
    [
      [runId, 'succeeded'],
      [next, 'succeeded'],
    ],
  );
});

test('readers read again when a node was lost and its shards have owners that push', async () => {
  await using gateway = await gatewayFixture({ nodes: 2 });
  const [one, two] = gateway.nodes;
  assert.ok(one && two);
  [one.shardsOwned, two.shardsOwned] = [128, 128];
  for (const node of gateway.nodes) node.tellStatus();
  const following = await ready(gateway);
  assert.deepEqual(following.names, ['ready']);
  await one.stop();
  two.shardsOwned = 256;
  two.tellStatus();
  await until(() => following.names.includes('resync'));
  assert.deepEqual(following.names, ['ready', 'resync']);
});

test('a node that may have missed a commit makes readers read again, and many such nodes no more than once', async () => {
  await using gateway = await gatewayFixture();
  const following = await ready(gateway);
  for (let n = 0; n < 100; n++) nodeOf(gateway).missed(gateway.orgId, NewsDetail.RESTS);
  await finish(gateway, 'next');
  await until(() => following.names.includes('run'));
  assert.deepEqual(following.names, ['ready', 'resync', 'run']);
});

test('after NATS was lost people ask again, who may have missed changes of methods, and programs do not', async () => {
  await using gateway = await gatewayFixture();
  const { organizationLogs, orgId } = gateway;
  const logs = (['people', 'programs'] as const).map((audience) => {
    let entered: OrganizationLog | null = null;
    organizationLogs.enter(orgId, audience, (log) => {
      entered = log;
      return { flush: () => {}, end: () => {} };
    });
    return entered ?? assert.fail();
  }) as OrganizationLog[];
  await until(() => logs.every(({ isOpen }) => isOpen));
  const next = logs.map(({ ring }) => ring.next);
  organizationLogs.onEventsMissed();
  assert.deepEqual(
    logs.map(
      (log, n) =>
        log
          .read(next[n] ?? 0, 1_000)
          ?.bytes.toString()
          .split('\n')[0] ?? '',
    ),
    ['event: resync', ''],
  );
});

test('people get new and changed methods, builds and keys, and nothing else of the registry', async () => {
  await using gateway = await gatewayFixture();
  const { organizationLogs, orgId } = gateway;
  const entered: OrganizationLog[] = [];
  organizationLogs.enter(orgId, 'people', (log) => {
    entered.push(log);
    return { flush: () => {}, end: () => {} };
  });
  await until(() => entered[0]?.isOpen === true);
  const next = entered[0]?.ring.next ?? 0;
  const changed = { $typeName: 'methods.event.v1.RegistryChanged', orgId, id: 'x', authSha256: '' } as const;
  for (const kind of ['created', 'method', 'build', 'key', 'session', 'member', 'settings', 'later']) {
    organizationLogs.onChanged({ ...changed, kind });
  }
  organizationLogs.onChanged({ ...changed, orgId: newId('org'), kind: 'key' });
  const text = entered[0]?.read(next, 10_000)?.bytes.toString() ?? '';
  assert.deepEqual(
    [...text.matchAll(/^event: (\w+)\n.*\ndata: (.*)$/gm)].map(([, name, data]) => `${name} ${data}`),
    ['method {"method_id":"x"}', 'method {"method_id":"x"}', 'build {"method_id":"x"}', 'key {"key_id":"x"}'],
  );
});

test('an organization is followed for a while after its last reader, and then no more', async () => {
  await using gateway = await gatewayFixture({ logLimits: { keptMs: 100 } });
  const node = nodeOf(gateway);
  const following = await ready(gateway);
  assert.equal(node.followed.size, 1);
  following.leave();
  await until(() => node.followed.size === 0 && gateway.organizationLogs.size === 0);
  assert.deepEqual((await ready(gateway, following.events[0]?.id ?? '')).names, ['resync']);
});

test('a reader that does not read holds a part of the events, is asked to read again, and is dropped', async () => {
  const logLimits = { bytes: { placesMax: 8 << 20, perOrganizationMax: 1 << 20 } };
  await using gateway = await gatewayFixture({ logLimits, eventStreamLimits: { beatMs: 50, slowMs: 300 } });
  const quick = await ready(gateway);
  const accepted = once(gateway.app.server, 'connection');
  const socket = connect(gateway.port, '127.0.0.1').pause();
  const [served] = (await accepted) as [Socket];
  socket.write(`GET /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.apiKey.key}\r\n\r\n`);
  const runId = await startedRun(gateway);
  const text = 'x'.repeat(300_000);
  await until(() => {
    const run = gateway.book.change(runId, { status: RunStatus.SUCCEEDED, resultJson: `"${text}"` });
    nodeOf(gateway).news(gateway.orgId, NewsDetail.RESTS, run);
    return served.writableLength > 0;
  });
  assert.ok(served.writableLength < 1 << 20, `${served.writableLength} bytes wait for it`);
  await until(() => served.destroyed);
  assert.equal(quick.over, false);
  socket.destroy();
});

test('events without room become one resync', async () => {
  const logLimits = { bytes: { placesMax: 20_000, perOrganizationMax: 10_000 } };
  await using gateway = await gatewayFixture({ logLimits });
  const following = await ready(gateway);
  await finish(gateway, 'x'.repeat(20_000));
  await until(() => following.events.length === 2);
  await finish(gateway, 'small');
  await until(() => following.events.length === 3);
  assert.deepEqual(following.names, ['ready', 'resync', 'run']);
});

test('a revoked key loses its stream', async () => {
  await using gateway = await gatewayFixture({ eventStreamLimits: { checkMs: 20 } });
  const following = await ready(gateway);
  gateway.registry.revoke(gateway.apiKey.sha256);
  gateway.registryClient.onEventsMissed();
  await until(() => following.over);
  assert.deepEqual(following.events.at(-1), { event: 'dropped', id: null, data: { reason: 'unauthorized' } });
});

test('a revoked key loses its stream within 30 s, even if no event reports it', async () => {
  const { clock, turn } = turnedClock();
  await using gateway = await gatewayFixture({ registryClock: clock, eventStreamLimits: { checkMs: 20 } });
  const following = await ready(gateway);
  gateway.registry.revoke(gateway.apiKey.sha256);
  // A cached key is renewed after two thirds of its 30 s, and a stream checks it every 5 s.
  turn(21_000);
  await until(() => following.over);
  assert.deepEqual(following.events.at(-1)?.data, { reason: 'unauthorized' });
});

test('readers have the shares of event streams, and a gateway that stops ends them', async () => {
  await using gateway = await gatewayFixture({ eventStreamLimits: { streamsPerCallerMax: 2 } });
  const [one, two] = [await ready(gateway), await ready(gateway)];
  const refused = await gateway.ask('GET', '/v1/events');
  assert.deepEqual([refused.status, refused.body.share, refused.body.limit], [429, 'key', '2']);
  one.leave();
  await until(async () => {
    const again = await follow(gateway);
    again.leave();
    return again.response.status === 200;
  });
  gateway.organizationLogs.stop();
  await until(() => two.over);
  assert.equal((await gateway.ask('GET', '/v1/events')).status, 503);
});
