import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { newId } from '@methods/base/ids';
import { gatewayFixture, until } from '../testing/gateway.fixture.ts';
import { heldClock } from '../testing/held-clock.fixture.ts';

const MIB = 1024 * 1024;
const RESULT = JSON.stringify('x'.repeat(3 * MIB));

/** A connection that reads nothing. The system buffers some replies, so it must request more than one. */
function deaf(port: number, path: string, key: string): { readonly socket: Socket; ask(): void } {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.pause();
  return {
    socket,
    ask: () => void socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`),
  };
}

test('unread replies use up the share of their key and organization, and their reader is disconnected', async () => {
  const { clock, held } = heldClock();
  await using gateway = await gatewayFixture({
    clock,
    unreadReplyLimits: { placesMax: 64 * MIB, perOrganizationMax: 14 * MIB, perKeyMax: 8 * MIB },
  });
  const { orgId, apiKey, registry } = gateway;
  const start = { method: gateway.methodId, inputs: { name: 'Ada' } };
  const runId = (await gateway.ask('POST', '/v1/runs', start)).body.run_id;
  gateway.book.succeed(runId, RESULT);
  const path = `/v1/runs/${runId}`;
  // From here on the gateway has the run in its cache.
  assert.equal((await gateway.ask('GET', path)).status, 200);
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  const { key: second } = registry.key(orgId);
  const { key: third } = registry.key(orgId);
  const stranger = registry.key(newId('org')).key;

  const readers = Array.from({ length: 4 }, () => deaf(gateway.port, path, apiKey.key));
  await until(async () => {
    for (const reader of readers) reader.ask();
    return (await gateway.ask('GET', path)).status === 429 && (await gateway.ask('GET', path)).status === 429;
  });
  const { body } = await gateway.ask('GET', path);
  assert.deepEqual([body.error, body.share], ['rate_limited', 'key']);
  // A change is refused before it is made.
  const runs = gateway.book.runs.size;
  assert.equal((await gateway.ask('POST', '/v1/runs', start)).body.share, 'key');
  assert.equal(gateway.book.runs.size, runs);

  const others = Array.from({ length: 4 }, () => deaf(gateway.port, path, second));
  await until(async () => {
    for (const reader of others) reader.ask();
    return (await gateway.ask('GET', path, undefined, as(third))).body.share === 'organization';
  });
  // Another organization continues.
  assert.equal((await gateway.ask('GET', '/v1/runs', undefined, as(stranger))).status, 200);

  for (const end of held) end();
  await until(async () => (await gateway.ask('GET', path)).status === 200);
  await until(async () => (await gateway.ask('GET', path, undefined, as(third))).status === 200);
  for (const { socket } of [...readers, ...others]) socket.destroy();
});
