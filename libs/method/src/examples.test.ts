// A user could save every method under examples/ unchanged.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileMethod } from './compile.ts';

const folder = new URL('../examples/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.method'));

for (const name of names) {
  test(`${name} validates without an error`, () => {
    const { method, diagnostics } = compileMethod(readFileSync(new URL(name, folder)));
    assert.deepEqual(
      diagnostics.filter(({ severity }) => severity === 'error'),
      [],
    );
    assert.equal(method?.name, name.replace('.method', ''));
  });
}

test('the five methods the language was designed with validate without a warning', () => {
  for (const name of ['refund-order', 'order-quality', 'sync-contacts', 'deploy-site', 'triage-ticket']) {
    const { diagnostics } = compileMethod(readFileSync(new URL(`${name}.method`, folder)));
    assert.deepEqual(diagnostics, [], name);
  }
});
