// The behaviour of a worker that a person runs by hand while the service restarts, when it is stopped and when it is
// refused.
import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { METHODS } from '@methods/cli/cli.fixture';
import { SignInStore } from '@methods/cli/sign-in/sign-in-store';
import { TerminalProcess } from '@methods/cli/terminal/terminal-process.fixture';
import { chooseStack, fetchToken } from '@methods/local-stack/token/running-stack';
import type { RunBody } from '../e2e/api-client.ts';
import { type Stack, startStack } from '../e2e/stack.ts';
import { until } from '../harness/until.ts';
import { GatedRuns } from './gated-runs.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';
import { StartedWorker } from './started-worker.ts';

let stack: Stack;
let desk: StackDesk;
let gated: GatedRuns;
let worker: StartedWorker;

before(async () => {
  stack = await startStack('cli-worker', { env: { WORKER_LEASE_MS: '8000', HEARTBEAT_MS: '500' } });
  desk = await stackDesk(stack);
  gated = await GatedRuns.publish(desk);
  worker = new StartedWorker(desk, '--method', 'held.method', '--concurrency', '3');
  await worker.says('how steps are isolated', ({ event, text = '' }) => event === 'isolation' && text !== '');
  await worker.says('it is ready', ({ event }) => event === 'ready');
});
after(async () => {
  worker?.signal('SIGKILL');
  await desk?.folder.remove();
  await stack?.stop();
});

test('a worker survives a restarted scheduler, drains on SIGTERM, and another takes what it gave back', async () => {
  const runId = await gated.start('restarted');
  await until('it runs', async () => (await stack.api.get(runId)).run.status === 'running');
  const scheduler = stack.ready.processes.find(({ name }) => name === 'run-scheduler-1');
  process.kill(scheduler?.pid ?? 0, 'SIGKILL');
  await worker.says('the connection is lost', ({ event }) => event === 'disconnected');
  await worker.says('it is connected again', ({ event }) => event === 'connected');
  await gated.open('restarted');
  await worker.says('the run ends', (line) => line.run_id === runId && line.end === 'succeeded');
  assert.equal((await stack.api.settled(runId)).status, 'succeeded');

  const given = await gated.start('given-back');
  await until('it runs', async () => (await stack.api.get(given)).run.status === 'running');
  worker.signal('SIGTERM');
  await worker.says('it drains', ({ event }) => event === 'draining');
  await gated.open('given-back');
  await worker.exited;
  assert.ok(
    worker.lines.some((line) => line.run_id === given && line.end === 'given back'),
    JSON.stringify(worker.lines),
  );
  assert.equal(worker.lines.at(-1)?.event, 'stopped');
  assert.equal(await worker.exited, 0);
  worker = new StartedWorker(desk, '--method', 'held.method', '--method', stack.method('greet'));
  assert.equal((await stack.api.settled(given)).status, 'succeeded');
});

/** Between two steps a run is given back at once. */
async function holds(runId: string): Promise<void> {
  const stepOf = async () => (await stack.api.get(runId)).run.steps.find(({ name }) => name === 'hold');
  await until('its step runs', async () => (await stepOf())?.status === 'running');
}

/** The held run continues, and its worker brings it to its end in its first attempt. */
async function nothingLost(name: string, runId: string): Promise<void> {
  const shown = await desk.folder.quickJson<RunBody>(['runs', 'show', runId], desk.env);
  assert.equal(shown.document.status, 'running', 'it drains, and its step continues');
  await gated.open(name);
  worker = new StartedWorker(desk, '--method', 'held.method');
  const { status, attempts } = await stack.api.settled(runId);
  assert.deepEqual([status, attempts], ['succeeded', 1]);
}

test('a worker drains even if its terminal is closed', async () => {
  worker.signal('SIGTERM');
  await worker.exited;
  const env = { HOME: desk.folder.dir, ...desk.env };
  const args = [METHODS, 'worker', '--no-sandbox', '--method', 'held.method'];
  const terminal = new TerminalProcess(process.execPath, args, { cwd: desk.folder.dir, env });
  try {
    await terminal.shows('Ready: ');
    const runId = await gated.start('hung-up');
    await holds(runId);
    terminal.vanish();
    await nothingLost('hung-up', runId);
    assert.equal(await terminal.signalled, constants.signals.SIGHUP);
  } finally {
    terminal.stop();
  }
});

test('a worker drains even if no one reads its output any more', async () => {
  const left = worker;
  const runId = await gated.start('unread');
  await holds(runId);
  left.unread();
  left.signal('SIGINT');
  await nothingLost('unread', runId);
  assert.equal(await left.exited, 0);
});

test('a worker needs no key where its user is signed in as a member', async () => {
  const { base_url: server, data_dir: dataDir } = stack.ready;
  const provider = chooseStack(dataDir);
  const env = { ...desk.env, METHODS_SERVER: server };
  const store = new SignInStore({ stateDir: join(desk.folder.dir, '.state'), keyring: false });
  const signIn = async (email: string, role: 'viewer' | 'member') => {
    const request = { email, organization: 'Local', role, audience: 'machine' as const };
    const accessToken = await fetchToken(provider, request);
    const expiresAtMs = Date.now() + 600_000;
    const { issuer } = provider;
    const client = { clientId: 'methods-cli', resource: null, refreshToken: null };
    await store.write({ server, issuer, ...client, accessToken, expiresAtMs });
  };
  await signIn('viewer@example.com', 'viewer');
  const refused = await desk.folder.quick(['worker', '--method', stack.method('greet')], env);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^error: the server refuses this worker: A worker needs the role member or admin\.$/m);

  // The other worker would take its run.
  worker.signal('SIGTERM');
  await worker.exited;
  await signIn('member@example.com', 'member');
  const admin = await fetchToken(provider, {
    ...{ email: 'developer@example.com', organization: 'Local', role: 'admin', audience: 'machine' as const },
  });
  const keepOnDevices = (content_on_devices: boolean) =>
    fetch(`${server}/api/settings`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({ content_on_devices }),
    }).then(({ status }) => assert.equal(status, 200));
  await keepOnDevices(true);
  const unable = await desk.folder.quick(['worker', '--method', stack.method('greet'), '--json'], env);
  await keepOnDevices(false);
  assert.deepEqual([unable.code, JSON.parse(unable.stderr).error], [1, 'device_key_required']);
  const signedIn = new StartedWorker({ ...desk, env }, '--method', 'held.method');
  await signedIn.says('it is ready', ({ event }) => event === 'ready');
  const runId = await gated.start('signed-in');
  await gated.open('signed-in');
  assert.equal((await stack.api.settled(runId)).status, 'succeeded');
  await signedIn.says('it ran it', (line) => line.run_id === runId && line.end === 'succeeded');
  signedIn.signal('SIGTERM');
  assert.equal(await signedIn.exited, 0);
  await store.remove(provider.issuer, server);
});

test('a worker whose key is not accepted ends at once and says what to do', async () => {
  const key = `${stack.ready.api_key.slice(0, -1)}${stack.ready.api_key.endsWith('a') ? 'b' : 'a'}`;
  const args = ['worker', '--method', stack.method('greet')];
  const end = await desk.folder.quick(args, { ...desk.env, SERVICE_API_KEY: key });
  assert.equal(end.code, 1);
  assert.match(end.stderr, /^error: .*\nhint: /m);
  assert.ok(!`${end.stdout}${end.stderr}`.includes(key.slice(3, 40)));
});
