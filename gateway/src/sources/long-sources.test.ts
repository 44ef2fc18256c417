import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { test } from 'node:test';
import { compileMethod } from '@methods/method/compile';
import { gatewayFixture } from '../testing/gateway-fixture.ts';

const INPUTS = Array.from({ length: 20 }, (_, n) => `v${n}: =inputs.amount + ${n}`).join(', ');

/** Good, and long enough to take many turns of the event loop to compile. */
const long = (name: string) => `format: method/2
name: ${name}
inputs: { amount: number }
require:
  - The amount is positive: =inputs.amount > 0
steps:
${Array.from({ length: 150 }, (_, n) => `  - { name: s${n}, node: 'return { t: v0 };', in: { ${INPUTS} }, out: { t: number } }`).join('\n')}
`;

test('long sources are read apart from the event loop, and start as short ones do', async () => {
  await using gateway = await gatewayFixture();
  const names = ['one', 'two', 'three'];
  const begunMs = performance.now();
  for (const name of names) assert.ok(compileMethod(long(name)).method, 'it is a good source');
  const compiledMs = performance.now() - begunMs;
  const methods = names.map((name) => gateway.registry.method(gateway.orgId, long(name)).methodId);
  // The thread starts with the first.
  const start = (method: string | undefined, amount: number) =>
    gateway.ask('POST', '/v1/runs', { method, inputs: { amount } });
  const before = performance.eventLoopUtilization();
  for (const method of methods) assert.equal((await start(method, 1)).status, 201);
  const { active } = performance.eventLoopUtilization(before);
  assert.ok(active < compiledMs / 2, `the loop was busy for ${active} ms, compiling takes ${compiledMs} ms`);
  const { status, body } = await start(methods[0], 0);
  assert.deepEqual(
    [status, body.error, body.details],
    [422, 'invalid_inputs', [{ path: '', code: 'check_failed', message: 'The amount is positive' }]],
  );
  assert.equal(gateway.book.starts.length, names.length);
});
