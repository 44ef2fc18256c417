// Tests wait for a condition (`until` in test/harness), never for a time: a time is too short on a busy machine and too
// long on every other one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesMatching, tests } from './source-files.ts';

/** The code of steps under test is in strings; a made-up server's delay is not a wait of the test. */
function withoutStrings(line: string): string {
  return line.replace(/'[^']*'|"[^"]*"|`[^`]*`/g, "''");
}

test('no test waits for a time', () => {
  const waits = (line: string) => {
    const code = withoutStrings(line);
    return /\bawait\b.*\bsetTimeout\(/.test(code) || /\b(await )(sleep|delay|wait)\(/.test(code);
  };
  const spends = (line: string) => /\b(until)\(.*\b(performance|Date)\.now\(\) *[-><]/.test(withoutStrings(line));
  const imports = (line: string) => /import .*\bsetTimeout\b.*node:timers\/promises/.test(line);
  const elsewhere = tests.filter(({ path }) => !path.startsWith('test/tidy/'));
  assert.deepEqual(
    linesMatching(elsewhere, (line) => waits(line) || spends(line) || imports(line)),
    [],
  );
});

test('no test is skipped or runs by itself', () => {
  const elsewhere = tests.filter(({ path }) => !path.startsWith('test/tidy/'));
  assert.deepEqual(
    linesMatching(elsewhere, (line) => /\b(test|it|describe|suite)\.(only|skip|todo)\(/.test(line)),
    [],
  );
});
