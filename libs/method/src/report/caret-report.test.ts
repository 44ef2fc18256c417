// Diagnostics as text: places, carets under tabs and wide characters, long lines, hostile content, colours.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { compileMethod } from '../compile.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { caretReport } from './caret-report.ts';

const LINE_PREFIX = '     | ';

function finding(line: number, column: number, endColumn: number, more: Partial<Diagnostic> = {}): Diagnostic {
  return {
    code: 'M201',
    severity: 'error',
    message: 'a message',
    path: '',
    line,
    column,
    end_line: line,
    end_column: endColumn,
    ...more,
  };
}

/** The text above the carets, cell by cell, of a one-line source. */
function marked(source: string, column: number, endColumn: number, width?: number): string {
  const report = caretReport('f', source, [finding(1, column, endColumn)], width === undefined ? {} : { width });
  const [, shown = '', carets = ''] = report.split('\n');
  assert.ok(carets.startsWith(LINE_PREFIX));
  const start = carets.indexOf('^');
  return `${shown.slice(0, LINE_PREFIX.length)}${start - LINE_PREFIX.length}+${carets.length - start}`;
}

test('a report names the place, shows the line with carets, and gives the hint', () => {
  const source = [
    'format: method/2',
    'name: refund',
    'steps:',
    '  - name: order',
    '    node: "return { total: 1 }"',
    '    out: { total: number }',
    '  - name: refund',
    '    if: steps.ordr.total > 5',
    '    node: f()',
  ].join('\n');
  assert.equal(
    caretReport('refund.method', source, compileMethod(source).diagnostics),
    [
      'refund.method:8:15 error M201 no finished step "ordr" at this point',
      '   8 |     if: steps.ordr.total > 5',
      '     |               ^^^^',
      'hint: did you mean "order"?',
    ].join('\n'),
  );
});

test('a blank line separates blocks, and no diagnostics give no text', () => {
  const report = caretReport('f', 'a: b', [finding(1, 1, 2), finding(1, 4, 5)]);
  assert.equal(report.split('\n\n').length, 2);
  assert.equal(caretReport('f', 'a: b', []), '');
});

test('carets are under the right cells after tabs, wide letters, emoji and combining marks', () => {
  assert.equal(marked('\ta: b', 5, 6), '   1 | 7+1');
  assert.equal(marked('ab\tcd', 4, 6), '   1 | 4+2');
  assert.equal(marked('名前: xy', 5, 7), '   1 | 6+2');
  assert.equal(marked('a: 名前', 4, 6), '   1 | 3+4');
  assert.equal(marked('👩‍👧 x', 7, 8), '   1 | 3+1');
  assert.equal(marked('e\u0301e\u0301 x', 6, 7), '   1 | 3+1');
  assert.equal(marked('ｱｲ x', 4, 5), '   1 | 3+1');
});

test('a finding inside a character marks the whole character, one without length marks one cell', () => {
  assert.equal(marked('a👍b', 3, 4), '   1 | 1+2');
  assert.equal(marked('a: b', 3, 3), '   1 | 2+1');
  assert.equal(marked('a: b', 5, 5), '   1 | 4+1');
});

test('a finding over several lines is marked to the end of its first one', () => {
  const report = caretReport('f', 'a: b\r\nc: d', [finding(1, 4, 2, { end_line: 2 })]);
  assert.deepEqual(report.split('\n').slice(1), ['   1 | a: b', '     |    ^']);
});

test('of a long line only the part around the finding is shown', () => {
  const source = `${'a'.repeat(500)}HERE${'b'.repeat(500)}`;
  const report = caretReport('f', source, [finding(1, 501, 505)], { width: 40 });
  const [, shown = '', carets = ''] = report.split('\n');
  assert.equal(shown, `   1 | …${'a'.repeat(20)}HERE${'b'.repeat(15)}…`);
  assert.equal(carets, `${LINE_PREFIX}${' '.repeat(21)}^^^^`);
  const wide = caretReport('f', source, [finding(1, 1, 1_005)], { width: 40 }).split('\n');
  assert.equal(wide[1], `   1 | ${'a'.repeat(40)}…`);
  assert.equal(wide[2], `${LINE_PREFIX}${'^'.repeat(40)}`);
});

test('a hundred findings in one line of a full source cost little', () => {
  const source = '👍'.repeat(65_536);
  const findings = Array.from({ length: 100 }, (_, n) => finding(1, n * 1_000 + 2, n * 1_000 + 4));
  assert.ok(leastCpuMs(1_000, () => caretReport('f', source, findings)) < 1_000);
});

test('nothing of a source or a name can act on the terminal', () => {
  const report = caretReport('f\u001b[2J', 'a\u001b[31m\u0007\u202eb', [
    finding(1, 1, 2, { message: 'bad\u001b]0;x\u0007 name\nnext', hint: 'do\u009bthat' }),
  ]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
  assert.doesNotMatch(report, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  assert.equal(report.split('\n').length, 4);
});

test('colours are there only when asked for', () => {
  const found = [finding(1, 1, 2, { severity: 'warning', hint: 'h' })];
  assert.ok(!caretReport('f', 'a: b', found).includes('\u001b'));
  const coloured = caretReport('f', 'a: b', found, { colour: true });
  assert.ok(coloured.includes('\u001b[1;33mwarning M201\u001b[0m'));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours start with one
  assert.equal(coloured.replace(/\u001b\[[\d;]*m/g, ''), caretReport('f', 'a: b', found));
});

test('a finding in a missing line shows only its words', () => {
  assert.equal(caretReport('f', '', [finding(9, 1, 1)]), 'f:9:1 error M201 a message');
});
