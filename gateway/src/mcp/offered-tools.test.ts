import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OfferedMethod } from '@methods/proto/registry/v1/method_pb';
import { offeredTools } from './offered-tools.ts';

const INPUTS = { name: { type: 'string' } };

/** A tool of a method with these inputs and this result. */
function offered(properties: object, result: object = {}) {
  const method = {
    method: { methodId: '01hzy3k9q8m2n4p6r8s0t2v4w6', displayName: 'Greet' },
    ...{ name: 'greet', description: '', unavailable: '' },
    inputSchemaJson: JSON.stringify({ type: 'object', properties, required: ['name'] }),
    resultSchemaJson: JSON.stringify(result),
  };
  const [tool] = offeredTools([method as unknown as OfferedMethod], new Set());
  return tool ?? assert.fail('it is no tool');
}

test('a tool has the type of its method’s result, without what clients cannot compile', () => {
  const result = {
    $schema: 'x',
    properties: { pattern: { type: 'string', pattern: '(?i)re2' } },
    required: ['pattern'],
  };
  const { output } = offered(INPUTS, result);
  const expected = { properties: { pattern: { type: 'string' } }, required: ['pattern'] };
  assert.deepEqual(JSON.parse(JSON.stringify(output.properties.result)), expected);
  assert.ok(!output.required?.includes('result') && output.required?.includes('run_id'));
});

test('a tool says how long it waits and where its key is', () => {
  const { description, input, checks } = offered(INPUTS);
  assert.match(JSON.stringify(input.properties.wait_ms), /default 20000/);
  assert.match(description, /wait_ms is over.*the same idempotency_key\./);
  assert.deepEqual(Object.keys(checks?.properties ?? {}), ['idempotency_key', 'wait_ms']);
});

test('an input with the name of an argument of ours is the method’s, and the key is in _meta', async () => {
  const own = { ...INPUTS, idempotency_key: { type: 'number' }, wait_ms: { type: 'string' } };
  const { description, input, checks, call } = offered(own);
  assert.deepEqual([input.properties, checks?.properties], [own, {}]);
  assert.match(description, /20 seconds are over.*"methods\/idempotency_key" in _meta\./);
  for (const key of ['short', 7, null, 'x'.repeat(201), 'x'.repeat(100_000)]) {
    const exchange = { mcpReq: { _meta: { 'methods/idempotency_key': key } } };
    await assert.rejects(call({ name: 'Ada' }, { exchange } as never), { code: 'invalid_request' }, String(key));
  }
});
