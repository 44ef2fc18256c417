import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { test } from 'node:test';
import { compileMethod } from '@methods/method/compile';
import { gatewayFixture } from '../testing/gateway.fixture.ts';

const INPUTS = Array.from({ length: 20 }, (_, n) => `v${n}: =inputs.amount + ${n}`).join(', ');

/** Valid, and long enough to take many turns of the event loop to compile. */
const long = (name: string) => `format: method/2
name: ${name}
inputs: { amount: number }
require:
  - The amount is positive: =inputs.amount > 0
steps:
${Array.from({ length: 150 }, (_, n) => `  - { name: s${n}, node: 'return { t: v0 };', in: { ${INPUTS} }, out: { t: number } }`).join('\n')}
`;

test('long sources are read outside of the event loop, and start like short ones', async () => {
  await using gateway = await gatewayFixture();
  const start = (method: string, amount: number) => gateway.ask('POST', '/v1/runs', { method, inputs: { amount } });
  const shares: number[] = [];
  const methods: string[] = [];
  // The thread starts with the first source, and other tests use the machine.
  while (shares.length < 12 && !shares.some((share) => share < 0.5)) {
    const source = long(`m${shares.length}`);
    const begunMs = performance.now();
    assert.ok(compileMethod(source).method, 'it is a good source');
    const compiledMs = performance.now() - begunMs;
    const { methodId } = gateway.registry.method(gateway.orgId, source);
    methods.push(methodId);
    const before = performance.eventLoopUtilization();
    assert.equal((await start(methodId, 1)).status, 201);
    shares.push(performance.eventLoopUtilization(before).active / compiledMs);
  }
  assert.ok(Math.min(...shares) < 0.5, `the loop was busy for ${shares.join(', ')} of the time of compiling`);
  const { status, body } = await start(methods[0] ?? '', 0);
  assert.deepEqual(
    [status, body.error, body.details],
    [422, 'invalid_inputs', [{ path: '', code: 'check_failed', message: 'The amount is positive' }]],
  );
  assert.equal(gateway.book.starts.length, methods.length);
});
