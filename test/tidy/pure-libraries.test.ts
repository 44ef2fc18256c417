// Libraries that the dashboard runs in browsers: nothing of Node, and nothing that its Content-Security-Policy forbids.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesMatching, sources } from './source-files.ts';

const PURE = ['libs/form/src/', 'libs/method/src/'];
const pure = sources.filter(({ path }) => PURE.some((folder) => path.startsWith(folder)));

test('a library that browsers share imports no module of Node', () => {
  assert.ok(pure.length > 100);
  const imported = /(\bfrom|\bimport|\brequire)\s*\(?\s*['"](node:|fs|path|crypto|util|buffer|os|url|worker_threads)\b/;
  assert.deepEqual(
    linesMatching(pure, (line) => imported.test(line)),
    [],
  );
});

test('a library that browsers share uses no global of Node', () => {
  const globals = /(?<![.\w'"`])(Buffer|process|__dirname|__filename|setImmediate)(\.|\(|\[)/;
  assert.deepEqual(
    linesMatching(pure, (line) => globals.test(line)),
    [],
  );
});

test('a library that browsers share makes no code from text', () => {
  const made = /\bnew Function\b|(?<![.\w'"`])(eval|Function)\(|\bfrom ['"]ajv(\/|['"])/;
  assert.deepEqual(
    linesMatching(pure, (line) => made.test(line)),
    [],
  );
});

test('a library that browsers share imports, of the workspace, only such libraries and types', () => {
  const others = /^(?!import type\b).*\bfrom ['"]@methods\/(?!form\/|method\/)/;
  assert.deepEqual(
    linesMatching(pure, (line) => others.test(line)),
    [],
  );
});
