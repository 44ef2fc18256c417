import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { plainText } from '../terminal/plain-text.ts';
import { timeSpan } from '../terminal/words.ts';
import { differences } from './expectations.ts';
import { matchPath } from './step-pattern.ts';

test('a pattern without an index matches every round, and one with an index only its own', () => {
  deepEqual(matchPath('pages', 'pages[2]'), { exact: 0, open: 2 });
  deepEqual(matchPath('pages[2]', 'pages[2]'), { exact: 1, open: null });
  deepEqual(matchPath('loop[1]/inner', 'loop[1]/inner[3]'), { exact: 1, open: 3 });
  equal(matchPath('pages[1]', 'pages[2]'), null);
  equal(matchPath('inner', 'loop[1]/inner'), null);
});

test('objects may have more than expected, lists may not', () => {
  deepEqual(differences({ a: 1 }, { a: 1, b: 2 }, 'result'), []);
  deepEqual(differences({ a: [1] }, { a: [1, 2] }, 'result'), ['result.a: expected 1 items, got 2: [1,2]']);
  deepEqual(differences({ a: { b: 'x' } }, { a: { b: 'y' } }, 'result'), ['result.a.b: expected "x", got "y"']);
  deepEqual(differences({ a: 1 }, {}, 'result'), ['result.a: expected 1, got nothing']);
  deepEqual(differences({ a: null }, {}, 'result'), []);
});

test('foreign text cannot act on the terminal', () => {
  equal(plainText('\u001b[31mred\u001b[0m\tx\r\n\u001b]0;title\u0007next'), 'red    x\nnext');
  equal(plainText('a\u0008b'), 'a\ufffdb');
});

test('spans are shown as people write them', () => {
  deepEqual([210, 12_345, 200_000].map(timeSpan), ['0.21 s', '12 s', '3 min 20 s']);
});
