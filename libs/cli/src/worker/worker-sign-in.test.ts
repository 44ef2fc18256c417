import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { WorkerNode } from '@methods/worker/worker-node.fixture';
import { CliFolder, ended } from '../cli.fixture.ts';
import { SignInStore } from '../sign-in/sign-in-store.ts';

const HOUR_MS = 3_600_000;
const METHOD = 'wf_01kac0t6xgy9s2m4n8p3q5r7v1';

/** What a token endpoint replies; null: its connections break. */
type Renewal = { readonly status: number; readonly body: object } | null;
const OVER: Renewal = { status: 400, body: { error: 'invalid_grant' } };
/** Of all who share the issuer. */
const TOO_MANY: Renewal = { status: 429, body: { error: 'too_many_requests' } };
const SECOND: Renewal = {
  status: 200,
  body: { access_token: 'second', token_type: 'Bearer', expires_in: 3_600, refresh_token: 'after' },
};

let node: WorkerNode;
let folder: CliFolder;
let stopServer: () => void;
let child: ChildProcess;
let output: string;
/** The issuer, which is at the same address as the server. */
let renewal: Renewal;
let renewals: number;

beforeEach(async () => {
  node = await WorkerNode.start();
  folder = await CliFolder.make();
  renewal = null;
  renewals = 0;
  output = '';
  const server = createServer(({ url = '' }, response) => {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const json = (body: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (url === '/.well-known/methods') {
      return json({ machine_audience: base, issuer: base, cli_client_id: 'methods-cli', grpc_url: node.address });
    }
    if (url === '/v1/whoami') return json({ content_on_devices: false });
    if (url === '/.well-known/openid-configuration') return json({ issuer: base, token_endpoint: `${base}/token` });
    if (url !== '/token') return json({ items: [], next_cursor: null });
    renewals++;
    if (renewal === null) response.destroy();
    else json(renewal.body, renewal.status);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stopServer = () => void server.close().closeAllConnections();

  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = join(folder.dir, 'state');
  // By the clock of this machine the token is valid for an hour.
  const tokens = { accessToken: 'first', refreshToken: 'next', expiresAtMs: Date.now() + HOUR_MS };
  const about = { server: base, issuer: base, clientId: 'methods-cli', resource: null };
  await new SignInStore({ stateDir: state, keyring: false }).write({ ...about, ...tokens });
  const env = { METHODS_SERVER: base, XDG_STATE_HOME: state, METHODS_TOKEN_STORE: 'file' };
  child = folder.spawn(['worker', '--no-sandbox', '--method', METHOD], env);
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await until('the worker is ready', () => output.includes('Ready: '));
});
afterEach(async () => {
  child.kill('SIGKILL');
  stopServer();
  await node.stop();
  await folder.remove();
});

/** Only this token counts from now on. */
function admitOnly(token: string): void {
  node.admits = (authorization) => authorization === `Bearer ${token}`;
  node.stream.cut('unauthorized');
}

test('a worker with a sign-in outlasts an issuer that is down while its token ends', async () => {
  admitOnly('second');
  await until('it tries to renew its sign-in', () => renewals >= 2);
  assert.equal(child.exitCode, null, output);
  renewal = SECOND;
  await until('it is connected again', () => output.includes('Connected again'));
  assert.equal(node.stream.authorization, 'Bearer second');
  const end = ended(child);
  child.kill('SIGTERM');
  assert.equal((await end).code, 0);
});

test('a worker with a sign-in outlasts an issuer that has too many requests', async () => {
  renewal = TOO_MANY;
  admitOnly('second');
  await until('it tries to renew its sign-in again', () => renewals >= 2 || child.exitCode !== null);
  assert.equal(child.exitCode, null, output);
  renewal = SECOND;
  await until('it is connected again', () => output.includes('Connected again'));
});

test('a worker whose sign-in is over ends and says what to do', async () => {
  const end = ended(child);
  renewal = OVER;
  admitOnly('second');
  const { code, stderr } = await end;
  assert.equal(code, 1);
  assert.match(stderr, /^error: the server does not accept the sign-in of this worker\nhint: methods login --server /m);
});

test('a worker whose renewed sign-in is refused too ends', async () => {
  const end = ended(child);
  renewal = SECOND;
  admitOnly('third');
  assert.equal((await end).code, 1);
  assert.equal(renewals, 1);
});
