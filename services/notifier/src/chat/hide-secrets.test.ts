import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hideSecrets } from './hide-secrets.ts';

const SECRET = 'T000/B000/abcdefghijkl';

test('a secret is hidden wherever it occurs, even if the end of the text has cut it', () => {
  assert.equal(hideSecrets(`no ${SECRET}, really: ${SECRET}`, [SECRET]), 'no …, really: …');
  for (let length = 6; length < SECRET.length; length++) {
    assert.equal(hideSecrets(`no such hook: ${SECRET.slice(0, length)}`, [SECRET]), 'no such hook: …');
  }
});

test('texts without a secret are unchanged', () => {
  for (const text of ['', 'ok', 'T000', 'invalid_payload'])
    assert.equal(hideSecrets(text, [SECRET, 'other-secret']), text);
});
