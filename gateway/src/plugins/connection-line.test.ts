import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { newRunId } from '@methods/base/ids';
import { gatewayFixture, until } from '../testing/gateway-fixture.ts';

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
  const rude = packet(300);
  await once(rude.socket, 'close');
  assert.ok(rude.replies() <= 1);
});
