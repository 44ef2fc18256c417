import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '@methods/base/ids';
import { asDoer, newMember, type RunningRegistry, startRegistry } from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await startRegistry();
});
after(() => registry.stop());

const CHAT_URL = 'https://hooks.chat.example/services/T000/B000/abcdefgh';

async function organization() {
  const admin = await newMember(registry.accounts);
  const { orgId } = admin;
  const doer = asDoer(admin);
  const asked = { orgId, doer, format: 'webhook', url: 'https://app.example/hook?token=t0p', events: ['failed'] };
  const create = async (more: Partial<typeof asked> & { name?: string } = {}) => {
    const { endpoint, webhookSecret } = await registry.endpoints.createEndpoint({
      ...asked,
      name: newId('ep'),
      ...more,
    });
    if (endpoint === undefined) throw new Error('no endpoint');
    return { endpoint, endpointId: endpoint.endpointId, webhookSecret };
  };
  const target = async (endpointId: string) =>
    (await registry.endpoints.getEndpointTargets({ orgId })).targets.find((each) => each.endpointId === endpointId);
  return { orgId, doer, create, target };
}

describe('endpoints', () => {
  test('people see the URL without its query, and the secret once; the sender sees both', async () => {
    const { orgId, create, target } = await organization();
    const { endpoint, endpointId, webhookSecret } = await create({
      name: 'App',
      events: ['failed', 'needs_input', 'failed'],
    });
    match(webhookSecret, /^whsec_/);
    const listed = (await registry.endpoints.listEndpoints({ orgId })).endpoints;
    deepEqual(listed, [endpoint]);
    deepEqual([endpoint.shownUrl, endpoint.events], ['https://app.example/hook?…', ['needs_input', 'failed']]);
    const sent = await target(endpointId);
    deepEqual([sent?.url, sent?.secret, sent?.earlier], ['https://app.example/hook?token=t0p', webhookSecret, []]);
  });

  test('the URL of a chat is not shown and not stored in clear text, and nothing is signed', async () => {
    const { orgId, doer, create, target } = await organization();
    const { endpoint, endpointId, webhookSecret } = await create({ format: 'slack', url: CHAT_URL });
    deepEqual([endpoint.shownUrl, webhookSecret], ['https://hooks.chat.example/…', '']);
    deepEqual([(await target(endpointId))?.url, (await target(endpointId))?.secret], [CHAT_URL, '']);
    await rejects(registry.endpoints.rotateEndpoint({ orgId, endpointId, doer }), { code: 'invalid_request' });
    await registry.endpoints.changeEndpoint({ orgId, endpointId, doer, url: `${CHAT_URL}2` });
    equal((await target(endpointId))?.url, `${CHAT_URL}2`);
    await registry.endpoints.deleteEndpoint({ orgId, endpointId, doer });
    const rows = await registry.sql`
      select e::text as text from registry.endpoints e union all select a::text from registry.audit a`;
    ok(rows.every(({ text }) => !text.includes('abcdefgh')));
    ok(!registry.log().includes('abcdefgh'));
  });

  test('after a rotation two secrets sign, and an earlier one survives a lost reply', async () => {
    const { orgId, doer, create, target } = await organization();
    const { endpointId, webhookSecret: first } = await create();
    const rotate = (overlapMs: number) => registry.endpoints.rotateEndpoint({ orgId, endpointId, doer, overlapMs });
    const { webhookSecret: second, endpoint } = await rotate(60_000);
    notEqual(second, first);
    ok((endpoint?.earlierUntilMs ?? 0) > Date.now());
    const { webhookSecret: third } = await rotate(60_000);
    const sent = await target(endpointId);
    deepEqual([sent?.secret, sent?.earlier.map(({ secret }) => secret)], [third, [second, first]]);
    const ended = await rotate(0);
    equal(ended.endpoint?.earlierUntilMs, 0, 'also of the secrets before');
    deepEqual(
      (await target(endpointId))?.earlier.map(({ secret }) => secret),
      [third, second],
    );
    await rejects(rotate(7 * 86_400_000 + 1), { code: 'invalid_request' });
  });

  test('an organization has at most 20, even when they are created at the same time', async () => {
    const { orgId, doer, create } = await organization();
    const made = await Promise.allSettled(Array.from({ length: 24 }, () => create()));
    const { endpoints } = await registry.endpoints.listEndpoints({ orgId });
    equal(endpoints.length, made.filter(({ status }) => status === 'fulfilled').length);
    while ((await registry.endpoints.listEndpoints({ orgId })).endpoints.length < 20) await create();
    await rejects(create(), { code: 'invalid_request' });
    const [one] = endpoints;
    await registry.endpoints.deleteEndpoint({ orgId, endpointId: one?.endpointId ?? 'ep_', doer });
    await create();
  });

  test('a row that cannot be unsealed has no URL, and the others are unchanged', async () => {
    const { create, target } = await organization();
    const [bad, good] = [await create(), await create()];
    await registry.sql`
      update registry.endpoints b set sealed_url = g.sealed_url from registry.endpoints g
      where b.org_id = g.org_id and b.endpoint_id = ${bad.endpointId} and g.endpoint_id = ${good.endpointId}`;
    const refused = await target(bad.endpointId);
    deepEqual([refused?.url, refused?.secret], ['', '']);
    equal((await target(good.endpointId))?.secret, good.webhookSecret);
  });

  test('a change keeps the fields it omits, and a paused endpoint takes no events', async () => {
    const { orgId, doer, create, target } = await organization();
    const { endpointId } = await create({ name: 'Ops', events: ['failed', 'cancelled'] });
    const change = (more: object) => registry.endpoints.changeEndpoint({ orgId, endpointId, doer, ...more });
    const events = async () => (await registry.endpoints.getEndpointEvents({ orgId })).events.toSorted();
    deepEqual(await events(), ['cancelled', 'failed']);
    const made = await target(endpointId);
    const renamed = await change({ name: 'On call' });
    deepEqual([renamed.endpoint?.name, renamed.endpoint?.events], ['On call', ['failed', 'cancelled']]);
    equal((await target(endpointId))?.changedAtMs, made?.changedAtMs);
    await change({ paused: true });
    deepEqual(await events(), []);
    await change({ paused: false, events: { events: ['succeeded'] } });
    deepEqual(await events(), ['succeeded']);
    ok(((await target(endpointId))?.changedAtMs ?? 0) > (made?.changedAtMs ?? 0));
    await change({ paused: false });
    const { entries } = await registry.accounts.listAudit({ orgId, action: 'endpoint.change' });
    equal(entries.length, 3, 'the last one changed nothing');
  });

  test('bad values are refused, and each name is used once', async () => {
    const { orgId, doer, create } = await organization();
    const { endpointId } = await create({ name: 'App' });
    await create({ name: 'Other' });
    for (const bad of [
      { name: '' },
      { name: 'x'.repeat(201) },
      { name: 'ada@example.com' },
      { name: 'App' },
      { format: 'discord' },
      { url: '' },
      { url: 'not a url' },
      { url: `https://a.example/${'x'.repeat(2_048)}` },
      { events: [] },
      { events: ['started'] },
    ]) {
      await rejects(create(bad), { code: 'invalid_request' }, JSON.stringify(bad).slice(0, 60));
    }
    const change = (more: object) => registry.endpoints.changeEndpoint({ orgId, endpointId, doer, ...more });
    await rejects(change({ name: 'ada@example.com' }), { code: 'invalid_request' });
    await rejects(change({ name: 'Other' }), { code: 'invalid_request' });
    await rejects(change({ events: { events: [] } }), { code: 'invalid_request' });
  });

  test("another organization's endpoint is not found", async () => {
    const { create, target } = await organization();
    const { endpointId } = await create();
    const { orgId, doer } = await organization();
    const act = { orgId, endpointId, doer };
    await rejects(registry.endpoints.changeEndpoint({ ...act, paused: true }), { code: 'not_found' });
    await rejects(registry.endpoints.changeEndpoint({ ...act, url: 'https://b.example' }), { code: 'not_found' });
    await rejects(registry.endpoints.rotateEndpoint(act), { code: 'not_found' });
    await rejects(registry.endpoints.deleteEndpoint(act), { code: 'not_found' });
    await rejects(registry.endpoints.deleteEndpoint({ ...act, endpointId: 'ep_1' }), { code: 'not_found' });
    deepEqual((await registry.endpoints.getEndpointTargets({ orgId })).targets, []);
    equal((await target(endpointId))?.paused, false);
    const { entries } = await registry.accounts.listAudit({ orgId, targetId: endpointId });
    deepEqual(entries, []);
  });
});
