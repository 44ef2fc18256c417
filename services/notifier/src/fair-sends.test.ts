// What one organization's receivers and name servers cost another: real ones that accept a connection or a query and
// then never answer.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId, type OrgId } from '@methods/base/ids';
import { until } from '@methods/test/harness/until';
import { deliveriesOf } from '../test/deliveries.fixture.ts';
import { nameServer } from '../test/name-server.fixture.ts';
import { type NotifierStack, notifierStack, succeeded } from '../test/notifier-stack.fixture.ts';
import { type Receiver, receiver, status } from '../test/receiver.fixture.ts';
import { type SilentReceivers, silentReceivers } from '../test/silent-receivers.fixture.ts';
import type { EndpointTarget } from './delivery/endpoint-target.ts';

let stack: NotifierStack;
before(async () => {
  stack = await notifierStack();
});
after(() => stack[Symbol.asyncDispose]());
const { withNotifier, ended } = deliveriesOf(() => stack);

async function emitAll(count: number, url: (index: number) => string, orgId: OrgId): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => stack.emit(succeeded(url(i), { orgId }))));
}

/** Lets the notifier stop at once. */
async function noneLeft(silent: SilentReceivers): Promise<void> {
  await stack.database.sql`delete from notifier.deliveries where status = 'pending'`;
  await silent[Symbol.asyncDispose]();
}

test('eight sends go to one host of an organization; the same host is not full for another one', async () => {
  await using silent = await silentReceivers();
  await using quick = await receiver(status(200), { host: '127.0.0.1' });
  const orgId = newId('org');
  await withNotifier({}, async () => {
    await emitAll(30, () => `http://127.0.0.1:${silent.neverAnswers}/`, orgId);
    await until('eight are under way', () => silent.open === 8);
    const same = succeeded(`http://127.0.0.1:${quick.port}/`);
    await stack.emit(same);
    await ended(same);
    assert.equal(silent.openMax, 8);
    await noneLeft(silent);
  });
});

test('many names of one silent address share its eight places, and leave the rest to other addresses', async () => {
  await using silent = await silentReceivers();
  await using names = await nameServer(() => ({ addresses: ['127.0.4.1'], ttlS: 60 }));
  await using quick = await receiver(status(200), { host: '127.0.0.1' });
  await using shared = await receiver(status(200), { host: '127.0.4.1' });
  const [first, second] = [newId('org'), newId('org')];
  await withNotifier({ WEBHOOK_NAME_SERVERS: names.address }, async () => {
    await emitAll(100, (i) => `http://n${i}.wild.example:${silent.neverAnswers}/`, first);
    await until('eight are under way', () => silent.open === 8);
    const own = succeeded(`http://127.0.0.1:${quick.port}/`, { orgId: first });
    const other = succeeded(`http://shared.example:${shared.port}/`, { orgId: second });
    await Promise.all([stack.emit(own), stack.emit(other)]);
    await Promise.all([ended(own), ended(other)]);
    assert.equal(silent.openMax, 8);
    await noneLeft(silent);
  });
});

test('silent chats of an organization delay neither its other endpoint nor the chat of another organization', async () => {
  await using silent = await silentReceivers();
  await using quick = await receiver(status(200));
  const endpoint = (url: string, format: 'webhook' | 'slack'): EndpointTarget => ({
    ...{ endpointId: newId('ep'), name: 'Chat', format, url, events: ['succeeded'], paused: false },
    ...{ secret: format === 'webhook' ? 'whsec_1' : '', earlier: [], changedAtMs: 1 },
  });
  const [first, second] = [newId('org'), newId('org')];
  const chats = Array.from({ length: 8 }, (_, i) =>
    endpoint(`http://127.0.1.${i + 1}:${silent.neverAnswers}/`, 'slack'),
  );
  stack.setEndpoints(first, [...chats, endpoint(`http://127.0.0.1:${quick.port}/`, 'webhook')]);
  stack.setEndpoints(second, [endpoint(`http://127.0.0.1:${quick.port}/`, 'slack')]);
  await withNotifier({}, async () => {
    await emitAll(10, () => '', first);
    await until('all places of the chats are taken', () => silent.open === 64);
    await emitAll(1, () => '', second);
    await until('all others are delivered', async () => {
      const delivered = await stack.database.sql`
        select org_id, kind from notifier.deliveries
        where org_id = any(${[first, second]}::text[]) and status = 'delivered'`;
      return delivered.length === 11 && delivered.some(({ org_id: orgId }) => orgId === second);
    });
    assert.equal(silent.openMax, 64);
    await noneLeft(silent);
  });
});

test('an organization whose hosts are all silent gets half of the sends, a second one half of the rest', async () => {
  await using silent = await silentReceivers();
  await withNotifier({}, async () => {
    await emitAll(200, (i) => `http://127.0.1.${i + 1}:${silent.neverAnswers}/`, newId('org'));
    await until('its share is full', () => silent.open === 128);
    await emitAll(200, (i) => `http://127.0.1.${i + 1}:${silent.drips}/`, newId('org'));
    await until('the second share is full', () => silent.open === 192);
    await noneLeft(silent);
  });
});

test('silent receivers and silent names of two organizations do not delay the webhooks of a third one', async () => {
  await using silent = await silentReceivers();
  await using names = await nameServer(() => null);
  await using quick = await receiver(status(200));
  await withNotifier({ WEBHOOK_NAME_SERVERS: names.address }, async () => {
    await attack(silent);
    await until('both are at work', () => silent.open > 60 && names.questions.length > 60);
    const p90 = await p90Ms(quick);
    assert.ok(silent.open > 60, 'it was still under way');
    assert.ok(p90 < 15_000, `${p90} ms, where a place that is taken comes back after 30 s`);
    await noneLeft(silent);
  });
});

async function attack(silent: SilentReceivers): Promise<void> {
  const [first, second] = [newId('org'), newId('org')];
  await emitAll(150, (i) => `http://127.0.2.${i + 1}:${i % 2 === 0 ? silent.neverAnswers : silent.drips}/`, first);
  await emitAll(60, (i) => `https://127.0.3.${i + 1}:${silent.neverAnswers}/`, first);
  await emitAll(200, (i) => `http://silent${i}.example/`, second);
}

/** Measures from an event to its webhook, one after the other. */
async function p90Ms(quick: Receiver): Promise<number> {
  const orgId = newId('org');
  const times: number[] = [];
  for (let i = 0; i < 20; i++) {
    const count = quick.requests.length + 1;
    const started = performance.now();
    await stack.emit(succeeded(`http://127.0.0.1:${quick.port}/`, { orgId }));
    await quick.received(count, 60_000);
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)] ?? 0;
}
