import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifySignature } from '@methods/auth/webhook-signature';
import { newId, newRunId } from '@methods/base/ids';
import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { rpcClient } from '@methods/rpc/client';
import { until } from '@methods/test/harness/until';
import { deliveriesOf, url } from '../test/deliveries.fixture.ts';
import { type Event, type NotifierStack, notifierStack, SECRET, succeeded } from '../test/notifier-stack.fixture.ts';
import { inTurn, type ReceivedRequest, receiver, status } from '../test/receiver.fixture.ts';

let stack: NotifierStack;
before(async () => {
  stack = await notifierStack();
});
after(() => stack[Symbol.asyncDispose]());

const { withNotifier, statusOf, ended, confirmations } = deliveriesOf(() => stack);

test('an event reaches the webhook once, signed, and is confirmed to the scheduler', async () => {
  await using server = await receiver(status(200));
  const event = succeeded(url(server.port));
  await withNotifier({}, async () => {
    await stack.emit(event);
    const [request] = await server.received(1);
    assert.ok(request);
    verifySignature(request.rawBody, String(request.headers['service-signature']), SECRET, { nowS: Date.now() / 1000 });
    const text = request.rawBody.toString();
    assert.ok(text.includes('"result":{"total":12345678901234567890}'));
    const { result: _, ...body } = JSON.parse(text);
    assert.deepEqual(body, {
      event: 'succeeded',
      delivery_id: request.headers['service-delivery'],
      seq: 4,
      run_id: event.runId,
      status: 'succeeded',
      method: event.method,
      version_id: event.versionId,
      created_at: '2026-11-02T10:20:30.004Z',
    });
    assert.deepEqual(await ended(event), { status: 'delivered', tries: 1 });
    await confirmations(event, 1);
  });
  assert.equal(server.requests.length, 1);
});

test('a failed delivery is sent again with the same id and bytes and a new time in its signature', async () => {
  await using server = await receiver(inTurn(status(500), status(307), status(204)));
  const event = succeeded(url(server.port));
  await withNotifier({ WEBHOOK_RETRY_MS: '1150,20' }, async () => {
    await stack.emit(event);
    const requests = await server.received(3);
    assert.deepEqual(await ended(event), { status: 'delivered', tries: 3 });
    assert.equal(new Set(requests.map((request) => request.rawBody.toString('hex'))).size, 1);
    assert.equal(new Set(requests.map((request) => request.headers['service-delivery'])).size, 1);
    assert.ok(new Set(requests.map(signedAt)).size >= 2, 'a second passed between the first and the second try');
    for (const request of requests) {
      verifySignature(request.rawBody, String(request.headers['service-signature']), SECRET, {
        nowS: Date.now() / 1000,
      });
    }
  });
});

function signedAt(request: ReceivedRequest): string {
  return String(request.headers['service-signature']).split(',')[0] ?? '';
}

test('after one try and five more, the delivery is exhausted', async () => {
  await using server = await receiver(status(503, 'down'));
  const event = succeeded(url(server.port));
  await withNotifier({}, async () => {
    await stack.emit(event);
    assert.deepEqual(await ended(event), { status: 'exhausted', tries: 6 });
  });
  assert.equal(server.requests.length, 6);
});

test('410 stops a delivery at once', async () => {
  await using server = await receiver(status(410));
  const event = succeeded(url(server.port));
  await withNotifier({}, async () => {
    await stack.emit(event);
    assert.deepEqual(await ended(event), { status: 'stopped', tries: 1 });
  });
});

test('an event that arrives more than once makes one delivery and is confirmed each time', async () => {
  await using server = await receiver(status(200));
  const event = succeeded(url(server.port));
  await withNotifier({}, async () => {
    await Promise.all([stack.emit(event), stack.emit(event), stack.emit(event)]);
    await ended(event);
    await stack.emit(event);
    await confirmations(event, 4);
  });
  assert.equal(server.requests.length, 1);
});

test('an event without a webhook is confirmed and leaves nothing behind', async () => {
  const event = succeeded('');
  await withNotifier({}, async () => {
    await stack.emit(event);
    await confirmations(event, 1);
  });
  assert.equal(await statusOf(event), undefined);
});

test('a malformed event delays no other', async () => {
  await using server = await receiver(status(200));
  const bad = succeeded(url(server.port), { runId: 'run_1' });
  const event = succeeded(url(server.port));
  await withNotifier({}, async () => {
    await Promise.all([stack.emit(bad), stack.emitBytes(Buffer.from('nonsense')), stack.emit(event)]);
    await ended(event);
    await confirmations(bad, 1);
  });
  assert.equal(await statusOf(bad), undefined);
});

test('first tries of a run follow its order, each waiting only for the first try of the one before', async () => {
  const answeredMs: number[] = [];
  // The first event never gets a 2xx; the others must be sent anyway.
  await using server = await receiver((request, response) => {
    setTimeout(() => {
      answeredMs.push(performance.now());
      response.writeHead(JSON.parse(request.rawBody.toString()).seq === 1 ? 500 : 200).end();
    }, 100);
  });
  const run = { orgId: newId('org'), runId: newRunId(1) };
  const events = [1, 2, 5, 9].map((seq) => succeeded(url(server.port), { ...run, seq }));
  const [first, ...others] = events as [Event, ...Event[]];
  await withNotifier({ WEBHOOK_RETRY_MS: '3600000' }, async () => {
    for (const event of events) await stack.emit(event);
    for (const event of others) await ended(event);
    assert.deepEqual(await statusOf(first), { status: 'pending', tries: 1 }, 'nobody waits for its next try');
  });
  const order = server.requests.map((request) => JSON.parse(request.rawBody.toString()).seq);
  assert.deepEqual(order, [1, 2, 5, 9]);
  for (const [index, request] of server.requests.entries()) {
    assert.ok(index === 0 || request.atMs >= (answeredMs[index - 1] ?? Number.POSITIVE_INFINITY));
  }
});

test('two notifiers share the work and send nothing twice', async () => {
  await using server = await receiver(status(200), { host: '0.0.0.0' });
  const events = Array.from({ length: 300 }, (_, i) => succeeded(`http://127.0.0.${1 + (i % 20)}:${server.port}/hook`));
  await withNotifier({}, () =>
    withNotifier({}, async () => {
      await Promise.all(events.map((event) => stack.emit(event)));
      await server.received(300, 120_000);
      for (const event of events) assert.deepEqual(await ended(event), { status: 'delivered', tries: 1 });
    }),
  );
  assert.equal(server.requests.length, 300);
});

test('an unavailable registry postpones a try without counting it', async () => {
  await using server = await receiver(status(200));
  const known = succeeded(url(server.port));
  // The secret has not been requested yet, but the organization's endpoints are known.
  const event = succeeded(url(server.port), { orgId: known.orgId ?? 'org_none' });
  await withNotifier({}, async () => {
    await stack.emit(known);
    await ended(known);
    await stack.registry.stop();
    await stack.emit(event);
    await confirmations(event, 1);
    await until('the try was postponed', async () => {
      const [row] = await stack.database.sql`
        select from notifier.deliveries where run_id = ${event.runId ?? 'run_none'} and claim is null and due_at > clock_timestamp()`;
      return row;
    });
    await stack.registry.start();
    assert.deepEqual(await ended(event), { status: 'delivered', tries: 1 });
  });
});

test('a key that the registry does not know ends as exhausted', async () => {
  const event = succeeded('http://127.0.0.1:9/', { keyId: 'key_unknown' });
  await withNotifier({ WEBHOOK_RETRY_MS: '10' }, async () => {
    await stack.emit(event);
    assert.deepEqual(await ended(event), { status: 'exhausted', tries: 2 });
  });
});

test('a node that stops returns its pending sends, uncounted, and another node sends them', async () => {
  await using server = await receiver(inTurn(() => {}, status(200)));
  const event = succeeded(url(server.port));
  const settings = { WEBHOOK_TIMEOUT_MS: '30000', WEBHOOK_CLAIM_MS: '60000' };
  await withNotifier(settings, async () => {
    await stack.emit(event);
    await server.received(1);
  });
  assert.deepEqual(await statusOf(event), { status: 'pending', tries: 0 });
  await withNotifier(settings, async () => {
    assert.deepEqual(await ended(event), { status: 'delivered', tries: 1 });
  });
});

test('operators list deliveries with their tries and send ended ones again', async () => {
  await using server = await receiver(inTurn(status(500, 'broken'), status(500, 'broken'), status(200, 'fine')));
  const event = succeeded(url(server.port));
  const other = succeeded(url(server.port));
  await withNotifier({ WEBHOOK_RETRY_MS: '10' }, async (notifier) => {
    const client = rpcClient(NotifierService, `127.0.0.1:${notifier.port}`);
    try {
      await stack.emit(event);
      assert.deepEqual(await ended(event), { status: 'exhausted', tries: 2 });
      await stack.emit(other);
      await ended(other);
      const { deliveries, nextCursor } = await client.listDeliveries({ orgId: event.orgId ?? 'org_none' });
      assert.deepEqual([deliveries.length, nextCursor], [1, '']);
      const [delivery] = deliveries;
      assert.ok(delivery);
      const [first] = delivery.tries;
      assert.deepEqual([first?.httpStatus, first?.answerStart, first?.error], [500, 'broken', '']);
      const { delivery: pending } = await client.resendDelivery({
        orgId: event.orgId ?? 'org_none',
        deliveryId: delivery.deliveryId,
      });
      assert.equal(pending?.deliveryId, delivery.deliveryId);
      assert.deepEqual(await ended(event), { status: 'delivered', tries: 3 });
      const [sent, , , again] = server.requests;
      assert.ok(sent && again && sent.rawBody.equals(again.rawBody));
      const foreign = { orgId: other.orgId ?? 'org_none', deliveryId: delivery.deliveryId };
      await assert.rejects(client.resendDelivery(foreign), { code: 'not_found' });
      await assert.rejects(client.resendDelivery({ ...foreign, deliveryId: newId('dlv') }), { code: 'not_found' });
      await assert.rejects(client.listDeliveries({ orgId: 'org_1' }), { code: 'not_found' });
      await assert.rejects(client.listDeliveries({ orgId: event.orgId ?? 'org_none', cursor: 'x' }), {
        code: 'invalid_request',
      });
    } finally {
      client.close();
    }
  });
});

test('without NATS the notifier starts and sends what it has stored; events follow when NATS is available, even after its data was lost', async () => {
  await using server = await receiver(status(200));
  const [before, after] = [succeeded(url(server.port)), succeeded(url(server.port))];
  await stack.nats.kill();
  await withNotifier({}, async () => {
    await stack.nats.restart();
    await until('NATS took it', () =>
      stack.emit(before).then(
        () => true,
        () => false,
      ),
    );
    assert.equal((await ended(before)).status, 'delivered');
    await stack.nats.wipe();
    // The scheduler's outbox repeats it until it is confirmed.
    await until('NATS took it', () =>
      stack.emit(after).then(
        () => true,
        () => false,
      ),
    );
    await stack.emit(after);
    assert.equal((await ended(after)).status, 'delivered');
    await confirmations(after, 1);
  });
});

test('an event that arrives before the one it follows is delivered after it', async () => {
  await using server = await receiver(status(204));
  const asked = succeeded(url(server.port), { seq: 2, createdAtMs: Date.now() });
  const ended = succeeded(url(server.port), {
    ...{
      orgId: asked.orgId ?? 'org_none',
      runId: asked.runId ?? 'run_none',
      outboxId: `${asked.runId}.6`,
      keyId: asked.keyId ?? 'key_none',
    },
    ...{ seq: 6, createdAtMs: Date.now(), followsSeq: 2, followsAtMs: Date.now() },
  });
  await withNotifier({}, async () => {
    await stack.emit(ended);
    const another = succeeded(url(server.port));
    await stack.emit(another);
    await confirmations(another, 1);
    assert.equal((await server.received(1)).length, 1, 'only the other run was delivered');
    await stack.emit(asked);
    await confirmations(ended, 1);
    const seqs = (await server.received(3)).map((request) => JSON.parse(request.rawBody.toString()).seq);
    assert.deepEqual(seqs.slice(1), [2, 6]);
  });
});
