// Tests wait for a condition (`until` in test/harness), never for a time: a time is too short on a busy machine and too
// long on every other one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesMatching, tests } from './source-files.ts';

/** The code of steps under test stands in strings; what a made-up server does late is not a wait of the test. */
function withoutStrings(line: string): string {
  return line.replace(/'[^']*'|"[^"]*"|`[^`]*`/g, "''");
}

test('no test waits for a time', () => {
  const waits = (line: string) => {
    const code = withoutStrings(line);
    return /\bawait\b.*\bsetTimeout\(/.test(code) || /\b(await )(sleep|delay|wait)\(/.test(code);
  };
  const imports = (line: string) => /import .*\bsetTimeout\b.*node:timers\/promises/.test(line);
  const elsewhere = tests.filter(({ path }) => !path.startsWith('test/tidy/'));
  assert.deepEqual(
    linesMatching(elsewhere, (line) => waits(line) || imports(line)),
    [],
  );
});

test('no test is left out or runs alone', () => {
  const elsewhere = tests.filter(({ path }) => !path.startsWith('test/tidy/'));
  assert.deepEqual(
    linesMatching(elsewhere, (line) => /\b(test|it|describe|suite)\.(only|skip|todo)\(/.test(line)),
    [],
  );
});
