import { equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { displayNameFrom, givenDisplayName } from './method.ts';

test('the title precedes the name; without either there is still a name', () => {
  equal(displayNameFrom({ title: 'Weekly report', name: 'weekly-report' }), 'Weekly report');
  equal(displayNameFrom({ title: ' \n ', name: 'weekly-report' }), 'weekly-report');
  equal(displayNameFrom({ name: '' }), 'Untitled method');
});

test("an author's title is one storable line of at most 200 code points", () => {
  equal(displayNameFrom({ title: ' a\0b\r\n\tc\u0085', name: 'n' }), 'a b c');
  equal(displayNameFrom({ title: '😀'.repeat(201), name: 'n' }), '😀'.repeat(200));
});

test('a given name is kept unchanged or refused', () => {
  equal(givenDisplayName(''), null);
  equal(givenDisplayName('  Weekly  '), '  Weekly  ');
  throws(() => givenDisplayName('x'.repeat(201)), { code: 'invalid_request' });
});
