import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from './table.ts';

test('columns are aligned, also with wide characters', () => {
  const lines = table(
    ['ID', 'NAME', 'STATUS'],
    [
      ['a', '退款', 'ready'],
      ['bbb', 'x', 'failed'],
    ],
    80,
  );
  assert.deepEqual(lines, ['ID   NAME  STATUS', 'a    退款  ready', 'bbb  x     failed']);
});

test('a cell stays on its line and moves no cursor, and a long line is cut', () => {
  const [, line = ''] = table(['A', 'B'], [['one\ntwo', '\u001b[31mred\u001b[0m']], 80);
  assert.equal(line, 'one two  red');
  assert.deepEqual(table(['A', 'B'], [['12345', '67890']], 9), ['A      B', '12345  67']);
  assert.deepEqual(table(['A'], [], 9), []);
});
