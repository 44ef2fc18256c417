import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalDigest } from '@methods/base/canonical';
import type { RunId } from '@methods/base/ids';
import { askItem } from './step-message.ts';

test('encodes the form of a prepared version once for all runs that ask with it', () => {
  let reads = 0;
  const form = {
    get type() {
      reads++;
      return 'object' as const;
    },
  };
  const ask = (runId: RunId) => {
    const grant = { runId, token: 't', attempt: 1 };
    const { item } = askItem(grant, 1, { step: 'ok', prompt: 'Sure?', show: [], form }, '');
    assert.ok(item?.case === 'ask');
    return item.value;
  };
  const first = ask('run_1');
  const before = reads;
  const second = ask('run_2');
  assert.equal(reads, before);
  assert.equal(second.question?.formJson, '{"type":"object"}');
  assert.equal(second.formSha256, first.formSha256);
  assert.equal(second.formSha256, canonicalDigest({ type: 'object' }).toString('hex'));
});
