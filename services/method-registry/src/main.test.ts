import { equal, match, ok } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { rpcClient } from '@methods/rpc/client';
import { doorTo } from '@methods/test/harness/database-door';
import { startTestPostgres, testPostgres } from '@methods/test/harness/postgres';
import { newKey, newOrganization } from '../test/running-registry.fixture.ts';

const started = new Set<ChildProcess>();
after(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** Starts the process; returns its output and a promise of its exit code. */
function run(environment: Record<string, string>) {
  const child = spawn(process.execPath, nodeArguments(new URL('./main.ts', import.meta.url)), {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  started.add(child);
  const process_ = { child, said: '', exit: once(child, 'exit').then(([code]) => code as number | null) };
  child.stderr.setEncoding('utf8').on('data', (text) => {
    process_.said += text;
  });
  return process_;
}

const base = {
  LISTEN: '127.0.0.1:0',
  POSTGRES_URL: 'postgres://nobody@127.0.0.1:1/none',
  NATS_URL: 'nats://127.0.0.1:1',
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
};

/** Resolves with the first match in the process's output. */
async function saying(registry: ReturnType<typeof run>, pattern: RegExp): Promise<RegExpExecArray> {
  const { child } = registry;
  for (;;) {
    const found = pattern.exec(registry.said);
    if (found !== null) return found;
    if (child.exitCode !== null) throw new Error(`ended: ${registry.said}`);
    await once(child.stderr, 'data');
  }
}

describe('the process', { timeout: 300_000 }, () => {
  test('faults of the environment are one message and exit code 1', async () => {
    const registry = run({ LISTEN: 'here' });
    equal(await registry.exit, 1);
    match(registry.said, /^method-registry: The environment has 4 fault\(s\):\n(?: {2}\S.*\n){4}$/);
  });

  test('a Postgres that may lose commits is refused in one sentence', async () => {
    const server = await startTestPostgres({ fsync: 'off' });
    try {
      const registry = run({ ...base, POSTGRES_URL: server.url });
      equal(await registry.exit, 1);
      equal(registry.said, 'method-registry: This Postgres may lose confirmed commits: turn on fsync.\n');
    } finally {
      await server.stop();
    }
  });

  test('a missing database is refused in one sentence without the password', async () => {
    const url = new URL((await testPostgres()).url);
    url.pathname = '/no_such_database';
    const registry = run({ ...base, POSTGRES_URL: url.href });
    equal(await registry.exit, 1);
    equal(registry.said, 'method-registry: Postgres refuses this service (3D000): check POSTGRES_URL.\n');
  });

  test('it waits for a Postgres that starts later', async () => {
    const database = await (await testPostgres()).freshDatabase();
    const door = await doorTo(database.url);
    await door.shut();
    const registry = run({ ...base, POSTGRES_URL: door.url });
    await saying(registry, /waiting for Postgres/);
    await door.open();
    await saying(registry, /"serving"/);
    registry.child.kill('SIGTERM');
    equal(await registry.exit, 0);
    await door.shut();
    await database.drop();
  });

  test('SIGTERM ends the wait for Postgres', async () => {
    const registry = run(base);
    await saying(registry, /waiting for Postgres/);
    registry.child.kill('SIGTERM');
    equal(await registry.exit, 0);
  });

  test('it serves without NATS and ends with code 0 on SIGTERM', async () => {
    const database = await (await testPostgres()).freshDatabase();
    const registry = run({ ...base, POSTGRES_URL: database.url });
    const [, port] = await saying(registry, /"port":(\d+)[^\n]*"serving"/);
    const client = rpcClient(MethodRegistryService, `127.0.0.1:${port}`);
    const { created } = await client.ensureOrganization({ issuer: 'https://id.example', externalId: 'acme' });
    ok(created);
    client.close();
    registry.child.kill('SIGTERM');
    equal(await registry.exit, 0);
    await database.drop();
  });

  test('a changed SECRETS_KEY is refused in one sentence', async () => {
    const database = await (await testPostgres()).freshDatabase();
    const first = run({ ...base, POSTGRES_URL: database.url });
    const [, port] = await saying(first, /"port":(\d+)[^\n]*"serving"/);
    const client = rpcClient(MethodRegistryService, `127.0.0.1:${port}`);
    await newKey(client, await newOrganization(client));
    client.close();
    first.child.kill('SIGTERM');
    equal(await first.exit, 0);
    const second = run({
      ...base,
      POSTGRES_URL: database.url,
      SECRETS_KEY: Buffer.alloc(32, 2).toString('base64'),
      LOG_LEVEL: 'error',
    });
    equal(await second.exit, 1);
    equal(second.said, 'method-registry: SECRETS_KEY is not the key the stored webhook secrets were sealed under.\n');
    await database.drop();
  });
});
