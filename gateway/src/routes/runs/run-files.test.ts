import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { newId, newRunId } from '@methods/base/ids';
import { type GatewayFixture, gatewayFixture } from '../../testing/gateway-fixture.ts';

async function filesOf(gateway: GatewayFixture, runId: string, key = gateway.apiKey.key): Promise<Response> {
  return fetch(`http://127.0.0.1:${gateway.port}/v1/runs/${runId}/files`, {
    headers: { authorization: `Bearer ${key}` },
  });
}

async function startedRun(gateway: GatewayFixture): Promise<string> {
  return (await gateway.ask('POST', '/v1/runs', { method: gateway.methodId, inputs: { name: 'Ada' } })).body.run_id;
}

test('the files of a run come as the archive they were saved as, to be saved and never shown', async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  const chunks = [Buffer.alloc(65_536, 1), Buffer.alloc(65_536, 2), Buffer.from('end')];
  gateway.book.archives.set(runId, chunks);
  const response = await filesOf(gateway, runId);
  assert.equal(response.status, 200);
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.concat(chunks));
  const { headers } = response;
  assert.equal(headers.get('content-type'), 'application/gzip');
  assert.equal(headers.get('content-disposition'), `attachment; filename="${runId}.tar.gz"`);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
});

test('a run without files has an empty archive', async () => {
  await using gateway = await gatewayFixture();
  const response = await filesOf(gateway, await startedRun(gateway));
  assert.deepEqual(gunzipSync(Buffer.from(await response.arrayBuffer())), Buffer.alloc(1_024));
});

test("a run that is not there, or another organization's, has no files", async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  const foreign = await filesOf(gateway, runId, gateway.registry.key(newId('org')).key);
  const missing = await filesOf(gateway, newRunId(0));
  assert.deepEqual([foreign.status, missing.status], [404, 404]);
  assert.equal((await filesOf(gateway, 'run_1')).status, 404);
});

test('where one node is away the files come from another, and without any they are unavailable', async () => {
  await using gateway = await gatewayFixture({ nodes: 2 });
  const runId = await startedRun(gateway);
  gateway.book.archives.set(runId, [Buffer.from('x')]);
  await gateway.nodes[0]?.stop();
  for (let i = 0; i < 2; i++) assert.equal((await filesOf(gateway, runId)).status, 200);
  await gateway.nodes[1]?.stop();
  const none = await filesOf(gateway, runId);
  assert.equal(none.status, 503);
  assert.ok(none.headers.get('retry-after'));
});

test('downloads that nobody reads use up the share of their key and their organization, and no other', async () => {
  await using gateway = await gatewayFixture();
  const runId = await startedRun(gateway);
  gateway.book.archives.set(runId, Array(400).fill(Buffer.alloc(65_536)));
  const open: Response[] = [];
  const fill = async (key: string): Promise<{ share?: string; error?: string }> => {
    for (;;) {
      const response = await filesOf(gateway, runId, key);
      if (response.status !== 200) return (await response.json()) as { share?: string; error?: string };
      open.push(response);
      assert.ok(open.length < 100);
    }
  };
  const { share, error } = await fill(gateway.apiKey.key);
  assert.deepEqual([open.length, share, error], [10, 'key', 'rate_limited']);
  await fill(gateway.registry.key(gateway.orgId).key);
  assert.equal((await fill(gateway.registry.key(gateway.orgId).key)).share, 'organization');
  assert.equal(open.length, 20);

  const other = newId('org');
  const key = gateway.registry.key(other).key;
  const { methodId } = gateway.registry.method(other, gateway.source);
  const request = { method: methodId, inputs: { name: 'Eve' } };
  const started = await gateway.ask('POST', '/v1/runs', request, { authorization: `Bearer ${key}` });
  assert.equal((await filesOf(gateway, started.body.run_id, key)).status, 200);
  await Promise.all(open.map(({ body }) => body?.cancel()));
});
