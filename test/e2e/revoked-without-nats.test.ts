// A key that is revoked while NATS is unavailable, so that no process is notified: gateways and run-schedulers still drop it by
// age within 30 s.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ServerProcess } from '@methods/local-stack/embedded/server-process';
import { TEST_DOER } from '../harness/test-doer.ts';
import { until } from '../harness/until.ts';
import { startedWorker } from './accounts/started-worker.ts';
import { secondKey } from './other-callers.ts';
import { commonStack, killNats } from './several-nodes.ts';
import type { Stack } from './stack.ts';

/** The 30 s for which a key is remembered, and time for a busy machine. */
const WITHIN_MS = 60_000;

describe('while NATS is unavailable', () => {
  let stack: Stack;
  let worker: ServerProcess | undefined;

  before(async () => {
    stack = await commonStack();
  });
  after(() => worker?.stop('SIGTERM', 10_000));

  test('a revoked key opens nothing within 30 s, neither a gateway nor a stream of workers', async (context) => {
    const { orgId, key, keyId } = await secondKey(stack);
    const method = stack.method('greet');
    worker = await startedWorker(stack, 'revoked-worker', key, method);
    const ask = async (baseUrl: string) =>
      (await stack.api.as(key).at(baseUrl).request('GET', `/v1/methods/${method}`)).status;
    for (const url of stack.gateways) assert.equal(await ask(url), 200);
    await killNats();

    await stack.registry.revokeServiceKey({ orgId, keyId, doer: TEST_DOER });
    const revokedMs = performance.now();
    const took = () => `${Math.round(performance.now() - revokedMs)} ms`;
    const refusals = stack.gateways.map(async (url, n) => {
      assert.equal(await ask(url), 200, 'the gateway heard of it: this test shows nothing');
      await until(`gateway ${n + 1} refuses the key`, async () => (await ask(url)) === 401, WITHIN_MS);
      context.diagnostic(`gateway ${n + 1} after ${took()}`);
    });
    const cut = until(
      'the worker is cut off and refused',
      () => /"code":"unauthorized"[^\n]*"not connected"/.test(worker?.logTail() ?? ''),
      WITHIN_MS,
    );
    await Promise.all([...refusals, cut.then(() => context.diagnostic(`stream of workers after ${took()}`))]);
    const own = await stack.api.request('GET', `/v1/methods/${method}`);
    assert.equal(own.status, 200, 'another key is none the worse');
  });
});
