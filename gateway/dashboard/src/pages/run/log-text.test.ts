import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesWith, logLines } from './log-text.ts';

test('escapes of colours become styles, which last over line ends', () => {
  assert.deepEqual(logLines('a\u001b[31;1mred\nstill\u001b[0m plain'), [
    [
      { text: 'a', colour: null, isBold: false },
      { text: 'red', colour: 'red', isBold: true },
    ],
    [
      { text: 'still', colour: 'red', isBold: true },
      { text: ' plain', colour: null, isBold: false },
    ],
  ]);
});

test('all other escapes are left out', () => {
  const text = (from: string) =>
    logLines(from)
      .map((parts) => parts.map((part) => part.text).join(''))
      .join('\n');
  assert.equal(text('a\u001b[2Jb\u001b[10;20Hc\u001b]0;title\u0007d\u001b]8;;http://x\u001b\\e\u001bcf'), 'abcdef');
  assert.equal(text('\u001b[38;5;196mfar\u001b[48;2;1;2;3mback'), 'farback');
  assert.equal(text('cut in the middle \u001b['), 'cut in the middle ');
});

test('a line that only begins an escape costs no more than its length', () => {
  const begun = performance.now();
  logLines('\u001b]'.repeat(50_000));
  logLines(`\u001b[${'1;'.repeat(100_000)}`);
  assert.ok(performance.now() - begun < 1_000);
});

test('lines are found in any case, with their numbers', () => {
  const lines = logLines('one\nTw\u001b[1mo\u001b[0m\nthree');
  assert.deepEqual(
    linesWith(lines, 'two').map(({ number }) => number),
    [2],
  );
  assert.equal(linesWith(lines, '').length, 3);
});
