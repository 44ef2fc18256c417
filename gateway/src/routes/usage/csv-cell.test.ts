import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvCell, csvLine } from './usage-csv.ts';

test('a text that a spreadsheet could take for a formula is a text', () => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '|calc', '%0', ' =1']) {
    assert.match(csvCell(text), /^"?'/, JSON.stringify(text));
  }
  assert.deepEqual(['plain', 'a=b', -5, 1.5].map(csvCell), ['plain', 'a=b', '-5', '1.5']);
});

test('quotes, commas and lines stay within their cell', () => {
  assert.equal(csvLine(['a,b', 'say "hi"', 'two\nlines', 7]), '"a,b","say ""hi""","two\nlines",7\r\n');
});
