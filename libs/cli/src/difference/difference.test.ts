import { equal, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { applyPatch } from 'diff';
import fc from 'fast-check';
import { unifiedDifference } from '../terminal/difference.ts';

const NAMES = ['a', 'b'] as const;
const run = promisify(execFile);

test('equal texts have no difference', () => {
  equal(unifiedDifference('one\n', 'one\n', NAMES), '');
  equal(unifiedDifference('', '', NAMES), '');
});

test('a changed line is between its neighbours', () => {
  const lines = Array.from({ length: 12 }, (_, n) => `line ${n + 1}\n`);
  const before = lines.join('');
  equal(
    unifiedDifference(before, before.replace('line 6\n', 'line six\n'), NAMES),
    '--- a\n+++ b\n@@ -3,7 +3,7 @@\n line 3\n line 4\n line 5\n-line 6\n+line six\n line 7\n line 8\n line 9\n',
  );
});

test('changes far from each other are two blocks', () => {
  const lines = Array.from({ length: 20 }, (_, n) => `${n}\n`);
  const before = lines.join('');
  const text = unifiedDifference(before, `first\n${before}last\n`, NAMES);
  equal(text.match(/^@@/gm)?.length, 2);
  ok(text.includes('@@ -1,3 +1,4 @@\n+first\n 0\n'));
});

test('a line without its line feed is marked as one', () => {
  const text = unifiedDifference('one\ntwo', 'one\ntwo\n', NAMES);
  equal(text, '--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+two\n');
});

test('the difference turns one text into the other, with the fewest changes', () => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\n');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.array(line, { maxLength: 12 }), (before, after) => {
      const text = unifiedDifference(before.join(''), after.join(''), NAMES);
      const changes = text.split('\n').filter((each) => /^[+-](?![+-])/.test(each)).length;
      equal(changes, before.length + after.length - 2 * longestCommon(before, after));
      equal(applyPatch(before.join(''), text), after.join(''));
    }),
  );
});

test('texts with nothing in common become one block, in time', () => {
  const before = Array.from({ length: 60_000 }, (_, n) => `a${n}\n`).join('');
  const after = `${Array.from({ length: 60_000 }, (_, n) => `b${n}\n`).join('')}end`;
  const text = unifiedDifference(before, after, NAMES);
  ok(text.startsWith('--- a\n+++ b\n@@ -1,60000 +1,60001 @@\n-a0\n-a1\n'));
  ok(text.endsWith('\n+b59999\n+end\n\\ No newline at end of file\n'));
});

test('patch turns the first text into the second', async (t) => {
  const hasPatch = await run('patch', ['--version']).then(
    () => true,
    () => false,
  );
  if (!hasPatch) return t.skip('patch is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'methods-diff-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'text');
  const difference = join(folder, 'difference');
  for (const [before, after] of [
    ['', 'one\n'],
    ['one\n', ''],
    ['one\ntwo\nthree\n', 'zero\none\nthree'],
    ['a\nb\nc\nd\ne\nf\ng\nh\ni\n', 'a\nB\nc\nd\ne\nf\ng\nh\nj\ni\n'],
  ] as const) {
    await writeFile(file, before);
    await writeFile(difference, unifiedDifference(before, after, NAMES));
    await run('patch', ['--silent', '--posix', file, difference]);
    equal(await readFile(file, 'utf8').catch(() => ''), after);
  }
});

function longestCommon(one: readonly string[], two: readonly string[]): number {
  const row = new Array<number>(two.length + 1).fill(0);
  for (const line of one) {
    let corner = 0;
    for (const [index, other] of two.entries()) {
      const above = row[index + 1] ?? 0;
      row[index + 1] = line === other ? corner + 1 : Math.max(above, row[index] ?? 0);
      corner = above;
    }
  }
  return row[two.length] ?? 0;
}
