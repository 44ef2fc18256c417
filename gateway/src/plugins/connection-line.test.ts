import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { newRunId, type RunId } from '@methods/base/ids';
import { gatewayFixture, until } from '../testing/gateway.fixture.ts';

test('requests of one packet are handled one after the other, and a packet of hundreds closes its connection', async () => {
  await using gateway = await gatewayFixture();
  let begun = 0;
  let [most, open] = [0, 0];
  gateway.app.server.on('request', () => begun++);
  const { scheduler } = gateway;
  const runView = scheduler.getRun.bind(scheduler);
  scheduler.getRun = async (...call) => {
    most = Math.max(most, ++open);
    return runView(...call).finally(() => open--);
  };
  const packet = (requests: number) => {
    const one = `GET /v1/runs/${newRunId(1)} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${gateway.apiKey.key}\r\n\r\n`;
    const socket = connect(gateway.port, '127.0.0.1');
    let text = '';
    socket.on('data', (bytes) => (text += bytes)).on('error', () => {});
    socket.write(one.repeat(requests));
    return { socket, replies: () => text.match(/HTTP\/1.1 404/g)?.length ?? 0 };
  };
  const polite = packet(50);
  await until(() => polite.replies() === 50);
  assert.deepEqual([begun, most], [50, 1]);
  polite.socket.destroy();
  begun = 0;
  const rude = packet(300);
  await once(rude.socket, 'close');
  assert.ok(rude.replies() <= 1);
  // The rest of its packet is not even parsed.
  assert.ok(begun <= 101, `${begun} requests begun`);
});

test('requests after a reply that closes the connection are never handled', async () => {
  await using gateway = await gatewayFixture();
  const asked: string[] = [];
  const { scheduler } = gateway;
  const runView = scheduler.getRun.bind(scheduler);
  scheduler.getRun = async (...call) => {
    asked.push(call[0].runId);
    return runView(...call);
  };
  const [first, last] = [newRunId(1), newRunId(1)];
  const get = (runId: RunId, more = '') =>
    `GET /v1/runs/${runId} HTTP/1.1\r\nhost: a\r\n${more}authorization: Bearer ${gateway.apiKey.key}\r\n\r\n`;
  const socket = connect(gateway.port, '127.0.0.1');
  socket.resume().write(get(first) + get(first, 'host: b\r\n') + get(last));
  await once(socket, 'close');
  assert.equal((await gateway.ask('GET', `/v1/runs/${newRunId(1)}`)).status, 404);
  assert.ok(asked.includes(first) && !asked.includes(last));
});
