import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (url: URL) => readFileSync(url, 'utf8');

test('the patch that is offered upstream fits the version that is installed', () => {
  const patch = read(new URL('../upstream/cancel-rejection.patch', import.meta.url));
  const [, file = '', hunk = ''] = /^--- a\/src\/(\S+)\n\+\+\+ .*\n@@ .* @@\n([\s\S]*)$/m.exec(patch) ?? [];
  const before = hunk.split('\n').filter((line) => /^[ -]/.test(line));
  assert.ok(before.length > 5);
  const source = read(new URL(file, import.meta.resolve('postgres')));
  assert.ok(source.includes(before.map((line) => line.slice(1)).join('\n')));
});
