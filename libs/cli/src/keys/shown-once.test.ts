// What is printed once, where it cannot be written: on a full disk, or behind a reader that has gone.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type CliEnd, CliFolder, ended } from '../cli.fixture.ts';

const KEY_ID = 'key_01kac0t6xgy9s2m4n8p3q5r7v1';
const ENDPOINT_ID = 'ep_01kac0t6xgy9s2m4n8p3q5r7v1';
const REPLIES: Readonly<Record<string, object>> = {
  '/.well-known/methods': { machine_audience: 'methods' },
  '/api/keys': { key: { id: KEY_ID, name: 'billing' }, webhook_secret: 'whsec_1' },
  [`/api/keys/${KEY_ID}/webhook-secret`]: { webhook_secret: 'whsec_2' },
  '/api/endpoints': { endpoint: { id: ENDPOINT_ID, name: 'Desk', events: [] }, webhook_secret: 'whsec_3' },
};
const CALLS = [
  [['keys', 'create', '--name', 'billing'], `methods keys revoke ${KEY_ID}`],
  [['keys', 'webhook-secret', KEY_ID], `no one has the new secret of ${KEY_ID}`],
  [['endpoints', 'create', '--name', 'Desk', '--url', 'https://a.example'], `methods endpoints rotate ${ENDPOINT_ID}`],
] as const;

let server: Server;
let folder: CliFolder;
let env: Record<string, string>;

before(async () => {
  server = createServer((request, reply) => {
    request.resume();
    reply.end(JSON.stringify(REPLIES[request.url ?? '']));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  env = { METHODS_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  folder = await CliFolder.make();
});
after(async () => {
  await folder.remove();
  server.close();
});

function assertNamed({ code, stderr }: CliEnd, why: string, hint: string): void {
  assert.equal(code, 1, stderr);
  const [error, ...hints] = stderr.trimEnd().split('\n');
  assert.equal(error, `error: the output cannot be written: ${why}`);
  assert.ok(hints.length === 1 && hints[0]?.startsWith('hint: ') && hints[0].includes(hint), stderr);
}

for (const [args, hint] of CALLS) {
  const name = args.slice(0, 2).join(' ');
  test(`${name} on a full disk says what was made`, { skip: process.platform !== 'linux' }, async () => {
    const full = await open('/dev/full', 'w');
    const child = folder.spawn(args, env, { stdout: full.fd });
    assertNamed(await ended(child), 'the disk is full', hint);
    await full.close();
  });

  test(`${name} whose reader has gone is no success`, async () => {
    const child = folder.spawn(args, env);
    child.stdout?.destroy();
    assertNamed(await ended(child), 'its reader has gone', hint);
  });
}
