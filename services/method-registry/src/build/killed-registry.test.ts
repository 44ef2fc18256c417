// A registry that dies in the middle of a build, as a real process that is killed.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';
import type { MethodId } from '@methods/base/ids';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { openPool } from '@methods/postgres/pool';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import { rpcClient } from '@methods/rpc/client';
import { migratedDatabase } from '@methods/test/harness/migrated-database';
import { until } from '@methods/test/harness/until';
import { recordedMethod, SHOP_HAR } from '../../test/recordings.fixture.ts';
import { newOrganization } from '../../test/running-registry.fixture.ts';

const started = new Set<ChildProcess>();
after(() => {
  for (const child of started) child.kill('SIGKILL');
});

async function startProcess(postgresUrl: string) {
  const child = spawn(process.execPath, nodeArguments(new URL('../main.ts', import.meta.url)), {
    env: {
      LISTEN: '127.0.0.1:0',
      POSTGRES_URL: postgresUrl,
      NATS_URL: 'nats://127.0.0.1:1',
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  started.add(child);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const port = await until('it serves', () => /"port":(\d+)[^\n]*"serving"/.exec(said)?.[1]);
  const client = rpcClient(MethodRegistryService, `127.0.0.1:${port}`);
  const uploads = rpcClient(UploadService, `127.0.0.1:${port}`);
  return {
    child,
    client,
    uploads,
    async end(signal: NodeJS.Signals) {
      client.close();
      uploads.close();
      child.kill(signal);
      await once(child, 'exit');
    },
  };
}

describe('a killed registry', { timeout: 300_000 }, () => {
  test('its build is done once by the next registry; a stopped one returns its build at once', async () => {
    const database = await migratedDatabase('method-registry');
    const sql = openPool({ url: database.url, applicationName: 'test', max: 2, statementTimeoutMs: 60_000 });
    // White space is read too, so that compiling lasts long enough to be interrupted.
    const recording = Buffer.concat([SHOP_HAR, Buffer.alloc(18_000_000, ' ')]);
    const running = (methodId: MethodId, attempts: number) =>
      until('the build is under way', async () => {
        const [build] = await sql`select state, attempts from registry.builds where method_id = ${methodId}`;
        return build?.state === 'running' && build.attempts === attempts;
      });

    const first = await startProcess(database.url);
    const orgId = await newOrganization(first.client);
    const methodId = await recordedMethod(first.uploads, orgId, recording);
    await running(methodId, 1);
    await first.end('SIGKILL');
    const [left] = await sql`select state, due_at > now() as leased from registry.builds where method_id = ${methodId}`;
    deepEqual({ ...left }, { state: 'running', leased: true });
    // As if the minute of its lease had passed.
    await sql`update registry.builds set due_at = now() where method_id = ${methodId}`;

    const second = await startProcess(database.url);
    await running(methodId, 2);
    await second.end('SIGTERM');
    const [back] = await sql`select state, attempts from registry.builds where method_id = ${methodId}`;
    deepEqual({ ...back }, { state: 'queued', attempts: 1 });

    const third = await startProcess(database.url);
    const method = await until('the build ends', async () => {
      const reply = await third.client.getMethod({ orgId, methodId });
      return reply.method?.status === 'building' ? null : reply.method;
    });
    equal(method.status, 'ready');
    deepEqual([method.build?.state, method.build?.attempts], ['succeeded', 2]);
    const [made] = await sql`
      select (select count(*)::int from registry.versions where method_id = ${methodId}) as versions,
        (select count(*)::int from registry.audit where target_id = ${methodId} and action = 'method.build') as ends`;
    deepEqual({ ...made }, { versions: 1, ends: 1 });
    await third.end('SIGTERM');
    ok(third.child.exitCode === 0);
    await sql.end({ timeout: 1 });
    await database.drop();
  });
});
