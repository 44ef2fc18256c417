import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileMethod } from '@methods/method/compile';
import { createMask } from '../secrets/mask.ts';
import { judge } from './checks.ts';

const { method } = compileMethod(`format: method/2
name: judged
inputs: { text: string }
require:
  - It is short: inputs.text.length < 3
steps:
  - { name: a, node: 'return {}' }
`);
const scope = (text: string) => ({
  inputs: { text },
  run: { id: 'run_1', started_at: '', version_id: '' },
  steps: {},
});

describe('the values a check has read', () => {
  const secret = 'secret-0123456789-abcdefghij';
  const mask = createMask(new Map([['TOKEN', secret]]));
  const kept = (text: string) => {
    const [check] = judge(method?.require ?? [], 'require', scope(text), mask);
    return String(check?.values?.['inputs.text']);
  };

  it('are masked before they are cut, with a secret at any place', () => {
    for (const before of [0, 960, 980, 990, 16_370, 16_380]) {
      const value = kept(`${'x'.repeat(before)}${secret}${'y'.repeat(3000)}`);
      assert.ok(!value.includes('secret'), value.slice(900));
      assert.ok(value.length <= 1001);
    }
    assert.ok(!kept(`${secret.repeat(580)}secret-0123456`).includes('secret'));
  });

  it('are never cut in the middle of a character', () => {
    for (const text of ['🔑'.repeat(900), `x${'🔑'.repeat(900)}`]) {
      const value = kept(text);
      assert.equal(Buffer.from(value).toString(), value);
    }
  });
});
