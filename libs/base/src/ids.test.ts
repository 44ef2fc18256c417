// `npm run check` compiles this file: where a swap of ids were no longer an error, "@ts-expect-error" would be one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bareMethodId,
  isId,
  type KeyId,
  type MethodId,
  newId,
  newMethodId,
  newRunId,
  type OrgId,
  type ProductionId,
  productionMethodId,
  type RunId,
  randomToken,
  type VersionId,
} from './ids.ts';

function named(orgId: OrgId, runId: RunId): string {
  return `${orgId}/${runId}`;
}

test('ids of two kinds cannot be swapped', () => {
  const [orgId, runId, text] = [newId('org'), newRunId(0), String(newRunId(0))];
  assert.equal(named(orgId, runId), `${orgId}/${runId}`);
  // @ts-expect-error
  named(runId, orgId);
  // @ts-expect-error
  named(orgId, newId('ver'));
  // @ts-expect-error A text is no id before it was looked at.
  named(orgId, text);
  // @ts-expect-error
  const question: `q_${string}` = newId('upl');
  // @ts-expect-error
  const version: VersionId = newId('key');
  // @ts-expect-error
  const key: KeyId = newId('ver');
  assert.equal(new Set([question, version, key]).size, 3);
});

test('the two spellings of a method id cannot be swapped', () => {
  const bare = newMethodId();
  // @ts-expect-error
  const production: ProductionId = bare;
  // @ts-expect-error
  const id: MethodId = productionMethodId(bare);
  assert.equal(id, `wf_${production}`);
  assert.equal(bareMethodId(id), bare);
});

test('a text is an id once its prefix and its 26 characters are checked', () => {
  const text: string = newId('ver');
  assert.ok(isId('ver', text));
  const version: VersionId = text;
  assert.equal(isId('run', version), false);
  for (const malformed of ['ver_', 'ver_1', `${version}0`, version.toUpperCase(), `ver_${'u'.repeat(26)}`]) {
    assert.equal(isId('ver', malformed), false, malformed);
  }
});

test('tokens are 32 hex digits, and none comes twice', () => {
  const tokens = Array.from({ length: 1_000 }, randomToken);
  assert.equal(new Set(tokens).size, tokens.length);
  for (const token of tokens) assert.match(token, /^[0-9a-f]{32}$/);
});
