// Deliveries to an organization's endpoints, through a whole notifier.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifySignature } from '@methods/auth/webhook-signature';
import { type EndpointId, newId, newRunId, type OrgId } from '@methods/base/ids';
import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { rpcClient } from '@methods/rpc/client';
import { until } from '@methods/test/harness/until';
import { deliveriesOf, url } from '../test/deliveries.fixture.ts';
import { type Event, type NotifierStack, notifierStack, SECRET, succeeded } from '../test/notifier-stack.fixture.ts';
import { receiver, status } from '../test/receiver.fixture.ts';
import type { Notifier } from './composition.ts';
import type { EndpointTarget } from './delivery/endpoint-target.ts';

let stack: NotifierStack;
let notifier: Notifier;
before(async () => {
  stack = await notifierStack();
  notifier = await stack.notifier();
});
after(async () => {
  await notifier.stop();
  await stack[Symbol.asyncDispose]();
});
const { confirmations } = deliveriesOf(() => stack);

function endpoint(port: number, more: Partial<EndpointTarget> = {}): EndpointTarget {
  return {
    endpointId: newId('ep'),
    name: 'Ops',
    format: 'webhook',
    url: url(port),
    events: ['needs_input', 'question.reminded', 'succeeded'],
    paused: false,
    secret: 'whsec_new',
    earlier: [],
    changedAtMs: 1,
    ...more,
  };
}

function rowsOf(orgId: OrgId) {
  return stack.database.sql<
    { kind: string; event: string; status: string; url: string; tries: number; endpoint_id: EndpointId | '' }[]
  >`select kind, event, status, url, tries, endpoint_id from notifier.deliveries where org_id = ${orgId} order by seq, kind`;
}

const ended = (orgId: OrgId, count: number) =>
  until('all deliveries ended', async () => {
    const rows = await rowsOf(orgId);
    return rows.length === count && rows.every((row) => row.status !== 'pending') ? rows : null;
  });

function asked(fields: Event): Event {
  const question = { id: newId('q'), step: 'approve', prompt: 'Approve <b>?', show: [], formJson: '{}' };
  return succeeded('', { event: 'needs_input', resultJson: '', question, seq: 2, ...fields } as never);
}

test('an endpoint gets the events it takes from every run, signed with all its valid secrets', async () => {
  await using server = await receiver(status(200));
  const orgId = newId('org');
  const earlier = [
    { secret: 'whsec_before', untilMs: Date.now() + 600_000 },
    { secret: 'whsec_over', untilMs: Date.now() - 1 },
  ];
  const target = endpoint(server.port, { earlier });
  stack.setEndpoints(orgId, [target]);
  const event = succeeded('', { orgId });
  await stack.emit({ ...event, outboxId: newId('fld'), event: 'cancelled', runId: newRunId(1) } as never);
  await stack.emit(event);
  const [row] = await ended(orgId, 1);
  assert.deepEqual(
    { ...row },
    { kind: 'endpoint', event: 'succeeded', status: 'delivered', url: '', tries: 1, endpoint_id: target.endpointId },
  );
  const [request] = server.requests;
  const header = String(request?.headers['service-signature']);
  const verify = (secret: string) =>
    verifySignature(request?.rawBody ?? '', header, secret, { nowS: Date.now() / 1000 });
  verify('whsec_new');
  verify('whsec_before');
  assert.throws(() => verify('whsec_over'));
});

test("a run's own URL and each endpoint get a delivery, and an event that no one takes is confirmed", async () => {
  await using server = await receiver(status(200));
  const orgId = newId('org');
  stack.setEndpoints(orgId, [endpoint(server.port), endpoint(server.port), endpoint(server.port, { paused: true })]);
  await stack.emit(succeeded(url(server.port), { orgId }));
  assert.deepEqual(
    (await ended(orgId, 3)).map(({ kind }) => kind),
    ['endpoint', 'endpoint', 'webhook'],
  );
  const bodies = server.requests.map(({ rawBody }) => JSON.parse(rawBody.toString()));
  assert.equal(new Set(bodies.map((body) => body.delivery_id)).size, 3);
  const signedWith = (secret: string) =>
    server.requests.filter(({ rawBody, headers }) => {
      try {
        verifySignature(rawBody, String(headers['service-signature']), secret, { nowS: Date.now() / 1000 });
        return true;
      } catch {
        return false;
      }
    }).length;
  assert.deepEqual([signedWith(SECRET), signedWith('whsec_new')], [1, 2]);
  const silent = succeeded('', { orgId: newId('org') });
  await stack.emit(silent);
  await confirmations(silent, 1);
});

test('a chat gets its format at its own URL, unsigned, and no row has the URL', async () => {
  await using server = await receiver((request, response) =>
    response.writeHead(403).end(`no such hook: ${request.path}`),
  );
  const orgId = newId('org');
  const chat = { secret: '', url: `${url(server.port)}/T0/B0/topsecret` };
  stack.setEndpoints(orgId, [
    endpoint(server.port, { ...chat, format: 'slack' }),
    endpoint(server.port, { ...chat, format: 'teams' }),
  ]);
  const reminded = asked({ orgId, seq: 3 });
  await stack.emit({ ...reminded, event: 'question.reminded', webhookUrl: url(server.port) } as never);
  const rows = await ended(orgId, 2);
  assert.deepEqual(
    rows.map(({ kind, status: end, tries }) => [kind, end, tries]),
    [
      ['slack', 'exhausted', 6],
      ['teams', 'exhausted', 6],
    ],
  );
  const bodies = server.requests.map(({ rawBody }) => JSON.parse(rawBody.toString()));
  assert.ok(bodies.some((body) => body.blocks?.length > 0) && bodies.some((body) => body.attachments?.length === 1));
  assert.ok(server.requests.every(({ headers }) => headers['service-signature'] === undefined));
  const [dump] = await stack.database.sql<{ text: string }[]>`
    select (select string_agg(d::text, '') from notifier.deliveries d where org_id = ${orgId})
      || (select string_agg(t::text, '') from notifier.delivery_tries t where org_id = ${orgId}) as text`;
  assert.ok(dump?.text.includes('no such hook') && !dump.text.includes('topsecret'), dump?.text);
});

test('deliveries to an endpoint that was removed or paused stop, and can be sent again later', async () => {
  await using server = await receiver(status(500));
  const orgId = newId('org');
  const target = endpoint(server.port);
  stack.setEndpoints(orgId, [target]);
  const runId = newRunId(1);
  // The first try fails, and by the second the registry knows no such endpoint.
  const gone = until('it was tried', () => server.requests.length > 0).then(() => stack.setEndpoints(orgId, []));
  await stack.emit(succeeded('', { orgId, runId }));
  await gone;
  const [row] = await ended(orgId, 1);
  assert.equal(row?.status, 'stopped');
  stack.setEndpoints(orgId, [{ ...target, paused: true }]);
  const calls = rpcClient(NotifierService, `127.0.0.1:${notifier.port}`);
  const resent = await calls.resendDeliveries({ orgId, status: 'stopped' });
  assert.equal(resent.deliveryIds.length, 1);
  assert.equal((await ended(orgId, 1))[0]?.status, 'stopped');
  await using healthy = await receiver(status(200));
  stack.setEndpoints(orgId, [{ ...target, url: url(healthy.port) }]);
  await until('the change is known', async () => {
    await calls.resendDeliveries({ orgId, deliveryIds: resent.deliveryIds });
    return (await ended(orgId, 1))[0]?.status === 'delivered';
  });
  const { deliveries } = await calls.listDeliveries({ orgId, endpointId: target.endpointId });
  const errors = deliveries[0]?.tries.map(({ error }) => error) ?? [];
  assert.ok(errors.includes('endpoint_removed') && errors.includes('endpoint_paused'), errors.join());
  calls.close();
});

test('events of an organization whose endpoints are unknown are redelivered, and others do not wait for them', async () => {
  await using server = await receiver(status(200));
  const orgId = newId('org');
  const known = newId('org');
  stack.setEndpoints(known, [endpoint(server.port)]);
  await stack.emit(succeeded('', { orgId: known }));
  await ended(known, 1);
  await stack.registry.stop();
  await stack.emit(succeeded('', { orgId }));
  await stack.emit(succeeded('', { orgId: known, runId: newRunId(2) }));
  await until('the known one is stored', async () => (await rowsOf(known)).length === 2);
  stack.setEndpoints(orgId, [endpoint(server.port)]);
  await stack.registry.start();
  await ended(orgId, 1);
});

test('while the registry does not reply about an organization, events of others are stored', async () => {
  await using server = await receiver(status(200));
  const [orgId, known] = [newId('org'), newId('org')];
  stack.setEndpoints(known, [endpoint(server.port)]);
  await stack.emit(succeeded('', { orgId: known }));
  await ended(known, 1);
  const calls = { open: 0, begun: 0 };
  stack.silent.set(orgId, calls);
  await stack.emit(succeeded('', { orgId }));
  await until('the registry is asked', () => calls.open === 1);
  for (let n = 0; n < 3; n++) {
    await stack.emit(succeeded('', { orgId }));
    await stack.emit(succeeded('', { orgId: known, runId: newRunId(1) }));
    await ended(known, n + 2);
  }
  assert.deepEqual(calls, { open: 1, begun: 1 }, 'all of them before the call was given up');
  stack.silent.delete(orgId);
  stack.setEndpoints(orgId, [endpoint(server.port)]);
  await ended(orgId, 4);
});

test('an end waits for its question if an endpoint took that too, and for nothing if none did', async () => {
  await using server = await receiver(status(200));
  const orgId = newId('org');
  const follows = { followsSeq: 2, followsAtMs: Date.now() - 1_000, createdAtMs: Date.now() };
  stack.setEndpoints(orgId, [endpoint(server.port, { events: ['succeeded'] })]);
  await stack.emit(succeeded('', { orgId, ...follows }));
  await ended(orgId, 1);
  // Created after the question, so it cannot have got it.
  stack.setEndpoints(orgId, [endpoint(server.port, { changedAtMs: Date.now() })]);
  await stack.emit(succeeded('', { orgId, runId: newRunId(1), ...follows }));
  await ended(orgId, 2);
  stack.setEndpoints(orgId, [endpoint(server.port)]);
  const runId = newRunId(1);
  const end = succeeded('', { orgId, runId, ...follows });
  await stack.emit(end);
  await stack.emit(asked({ orgId, runId, createdAtMs: Date.now() }));
  const rows = await ended(orgId, 4);
  assert.equal(rows.length, 4);
  const order = server.requests.slice(2).map(({ headers }) => headers['service-event']);
  assert.deepEqual(order, ['needs_input', 'succeeded']);
});

test('a large result is left out for endpoints, and reaches the run’s own URL whole', async () => {
  await using server = await receiver(status(200));
  const orgId = newId('org');
  stack.setEndpoints(
    orgId,
    Array.from({ length: 3 }, () => endpoint(server.port)),
  );
  const resultJson = JSON.stringify('x'.repeat(200_000));
  await stack.emit(succeeded(url(server.port), { orgId, resultJson }));
  await ended(orgId, 4);
  const bodies = server.requests.map(({ rawBody }) => JSON.parse(rawBody.toString()));
  assert.deepEqual(bodies.map((body) => [body.content_left_out ?? false, 'result' in body]).sort(), [
    [false, true],
    [true, false],
    [true, false],
    [true, false],
  ]);
});

test('a redirect of an endpoint is not followed, and a URL that cannot be unsealed fails where its admin sees it', async () => {
  await using elsewhere = await receiver(status(200));
  await using server = await receiver((_request, response) =>
    response.writeHead(302, { location: url(elsewhere.port) }).end(),
  );
  const orgId = newId('org');
  const good = endpoint(server.port);
  stack.setEndpoints(orgId, [good, endpoint(server.port, { url: '', secret: '' })]);
  await stack.emit(succeeded('', { orgId }));
  await ended(orgId, 2);
  assert.deepEqual([server.requests.length, elsewhere.requests.length], [6, 0]);
  const calls = rpcClient(NotifierService, `127.0.0.1:${notifier.port}`);
  const { deliveries } = await calls.listDeliveries({ orgId, status: 'exhausted' });
  calls.close();
  const tried = deliveries.map(({ endpointId, tries }) => {
    const kinds = new Set(tries.map(({ httpStatus, error }) => (httpStatus === 0 ? error.split(':')[0] : httpStatus)));
    return [endpointId === good.endpointId, [...kinds]];
  });
  assert.deepEqual(
    new Map(tried as [boolean, unknown][]),
    new Map<boolean, unknown>([
      [true, [302]],
      [false, ['invalid_url']],
    ]),
  );
});
