import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { createServer as createHttp2Server, createSecureServer } from 'node:http2';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { test } from 'node:test';
import { ownCertificate } from '@methods/test/harness/own-certificate';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { nodeFinding, pythonFinding } from './runtime-findings.ts';
import { clockFinding, mailFinding, workerEndpointFinding } from './server-findings.ts';

const NOON_MS = Date.UTC(2026, 0, 1, 12);

test('a clock is compared in whole seconds, minus the time of the request', () => {
  const at = (differenceMs: number) =>
    clockFinding(new Date(NOON_MS).toUTCString(), NOON_MS + differenceMs, NOON_MS + differenceMs + 400);
  assert.equal(at(0).state, 'ok');
  assert.equal(at(900).state, 'ok');
  assert.deepEqual([at(31_000).state, at(31_000).found], ['warning', '30 s ahead of the server']);
  assert.deepEqual([at(-90_400).state, at(-90_400).found], ['problem', '90 s behind the server']);
  assert.equal(clockFinding(null, NOON_MS, NOON_MS).state, 'ok');
});

test('a runtime that is too old is reported with the remedy', () => {
  assert.equal(nodeFinding('20.1.0').state, 'ok');
  assert.equal(nodeFinding('18.20.0').state, 'problem');
  assert.equal(pythonFinding('Python 3.9.0').state, 'ok');
  assert.equal(pythonFinding('Python 3.14.1').state, 'ok');
  for (const old of ['Python 3.8.10', 'Python 2.7.18', 'nonsense', null]) {
    const { state, remedy } = pythonFinding(old);
    assert.equal(state, 'warning');
    assert.match(remedy ?? '', /^install Python 3\.9/);
  }
});

test('a server that sends no mail is reported, and one that does not say so is not', () => {
  assert.deepEqual(mailFinding(null), []);
  assert.deepEqual(
    [true, false].map((sendsMail) => mailFinding(sendsMail).map(({ name, state }) => `${name} ${state}`)),
    [['mail ok'], ['mail warning']],
  );
});

test('a worker endpoint is one that speaks HTTP/2', async () => {
  const good = createHttp2Server();
  const bad = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const [goodAddress, badAddress] = await Promise.all([listening(good as unknown as Server), listening(bad)]);
  try {
    assert.equal((await workerEndpointFinding(goodAddress)).state, 'ok');
    assert.equal((await workerEndpointFinding(badAddress)).state, 'problem');
    const half = await workerEndpointFinding(`${goodAddress},${badAddress}`);
    assert.equal(half.state, 'warning');
    assert.ok(half.found.startsWith(`${badAddress}: `));
    assert.equal((await workerEndpointFinding(null)).state, 'warning');
  } finally {
    good.close();
    bad.close();
  }
});

test('a worker endpoint over TLS has a certificate this machine trusts', async () => {
  const folder = tempFolder('endpoint');
  const { key, certificate } = await ownCertificate(folder);
  const server = createSecureServer({ key, cert: certificate });
  const address = `https://${(await listening(server as unknown as Server)).replace('127.0.0.1', 'localhost')}`;
  try {
    const { state, found, remedy } = await workerEndpointFinding(address);
    assert.deepEqual(
      [state, found],
      ['problem', `${address}: its certificate comes from an authority this machine does not trust`],
    );
    assert.match(remedy ?? '', /NODE_EXTRA_CA_CERTS/);
    const away = await workerEndpointFinding(address.replace(/:\d+$/, ':1'));
    assert.match(away.remedy ?? '', /firewall/);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
