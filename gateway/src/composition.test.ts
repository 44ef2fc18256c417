import 'reflect-metadata/lite';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { composeGateway } from './composition.ts';
import { readConfig } from './config.ts';
import { gatewayFixture, until } from './testing/gateway.fixture.ts';

test('the composed gateway serves, is ready once its parts are, and answers waits when it stops', async () => {
  await using parts = await gatewayFixture();
  const gateway = composeGateway(
    readConfig({
      LISTEN: '127.0.0.1:0',
      METHOD_REGISTRY_URL: parts.registry.address,
      RUN_SCHEDULER_URLS: parts.nodes.map(({ address }) => address).join(','),
      // There is no server at this address: the bus is optional.
      NATS_URL: 'nats://127.0.0.1:1',
    }),
    silentLogger,
  );
  await gateway.start();
  const url = `http://127.0.0.1:${gateway.port}`;
  await until(async () => (await fetch(`${url}/readyz`)).status === 200);
  const waiting = fetch(`${url}/v1/runs?wait_ms=60000`, {
    method: 'POST',
    headers: { authorization: `Bearer ${parts.apiKey.authPart}`, 'content-type': 'application/json' },
    body: JSON.stringify({ method: parts.methodId, inputs: { name: 'Ada' } }),
  });
  await until(() => parts.book.runs.size === 1);
  const begun = performance.now();
  await Promise.all([gateway.stop(), gateway.stop()]);
  const reply = await waiting;
  assert.equal(reply.status, 201);
  assert.equal(((await reply.json()) as { status: string }).status, 'queued');
  assert.ok(performance.now() - begun < 30_000);
  await assert.rejects(fetch(`${url}/healthz`));
});
