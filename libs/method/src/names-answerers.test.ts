import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMethod } from './compile.ts';
import { namesAnswerers } from './method-facts.ts';

function names(rule: string, nested = false): boolean {
  const ask = `{ name: approve, ask: { question: Pay?${rule && `, ${rule}`} }, limits: { timeout: 3d }, out: { ok: boolean } }`;
  const step = nested ? `{ name: group, steps: [{ name: branch, parallel: [${ask}] }] }` : ask;
  const { method, diagnostics } = compileMethod(Buffer.from(`format: method/2\nname: pay\nsteps:\n  - ${step}\n`));
  assert.ok(method, JSON.stringify(diagnostics));
  return namesAnswerers(method);
}

test('a method has rules about people if one of its questions has them, at any depth', () => {
  for (const rule of ['to: [admin]', 'not_starter: true', 'needs: 2', 'escalate: { after: 1d, to: [admin] }']) {
    assert.equal(names(rule), true, rule);
    assert.equal(names(rule, true), true, rule);
  }
  for (const rule of ['', 'remind: [1d]', 'on_timeout: { answer: { ok: false } }'])
    assert.equal(names(rule), false, rule);
});
