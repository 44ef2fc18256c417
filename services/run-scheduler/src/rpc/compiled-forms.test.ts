import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompiledForms } from './answer-run.ts';

const form = (n: number, padding = '') => JSON.stringify({ type: 'integer', const: n, description: padding });

test('compiles a form once, and keeps 500 of them', () => {
  const forms = new CompiledForms();
  const first = forms.of(form(0));
  assert.ok(first.check(0).ok);
  assert.ok(!first.check(1).ok);
  const second = forms.of(form(1));
  for (let n = 2; n < 500; n++) forms.of(form(n));
  assert.equal(forms.of(form(0)), first);
  forms.of(form(500));
  assert.equal(forms.of(form(0)), first);
  assert.notEqual(forms.of(form(1)), second, 'the one unused for longest gives way');
});

test('keeps no form of more than 16 KiB', () => {
  const forms = new CompiledForms();
  const long = form(0, 'x'.repeat(16 * 1024));
  assert.notEqual(forms.of(long), forms.of(long));
  assert.ok(forms.of(long).check(0).ok);
});
