import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { gatewayFixture, until } from '../testing/gateway.fixture.ts';

/** Connections that send nothing, from one address of this machine. */
function silent(port: number, localAddress: string, count: number): Socket[] {
  return Array.from({ length: count }, () =>
    connect({ port, host: '127.0.0.1', localAddress })
      .on('error', () => {})
      .resume(),
  );
}

async function statusFrom(port: number, localAddress: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).setEncoding('latin1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {});
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await once(socket, 'close');
  return text.slice(9, 12);
}

const closed = (sockets: readonly Socket[]) => sockets.filter((socket) => socket.closed).length;

test('an address that opens connections beyond its share blocks no other address', async () => {
  await using gateway = await gatewayFixture({ connectionsMax: 100, connectionsPerAddressMax: 20 });
  const held = silent(gateway.port, '127.0.0.2', 30);
  await until(() => closed(held) === 10);
  assert.equal(await statusFrom(gateway.port, '127.0.0.2'), '');
  assert.equal(await statusFrom(gateway.port, '127.0.0.3'), '200');
  for (const socket of held) socket.destroy();
  await until(async () => (await statusFrom(gateway.port, '127.0.0.2')) === '200');
});

test('a trusted proxy has no share of its own, and the total is bounded', async () => {
  await using gateway = await gatewayFixture({
    connectionsMax: 30,
    connectionsPerAddressMax: 5,
    trustProxy: '127.0.0.2, 10.0.0.0/8',
  });
  const held = silent(gateway.port, '127.0.0.2', 40);
  await until(() => closed(held) === 10);
  assert.equal(await statusFrom(gateway.port, '127.0.0.3'), '');
  for (const socket of held) socket.destroy();
  await until(async () => (await statusFrom(gateway.port, '127.0.0.3')) === '200');
});

test('a connection that sends nothing, or never ends its headers, is cut', async () => {
  await using gateway = await gatewayFixture();
  gateway.app.server.headersTimeout = 50;
  const [quiet] = silent(gateway.port, '127.0.0.2', 1);
  const [slow] = silent(gateway.port, '127.0.0.2', 1);
  slow?.write('GET /healthz HTTP/1.1\r\nhost: x\r\nx-a: ');
  await until(() => quiet?.closed === true && slow?.closed === true);
});
