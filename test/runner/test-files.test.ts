import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { tempFolder } from '../harness/temp-folder.ts';
import { findTestFiles } from './test-files.ts';

describe('the list of tests', () => {
  const root = tempFolder('test-files');

  before(() => {
    const files = [
      'libs/a/src/b.test.ts',
      'libs/a/src/b.ts',
      'libs/a/node_modules/x/y.test.ts',
      'libs/client/src/e.test.ts',
      'libs/executor/src/node-runner.test.ts',
      'services/s/src/c.test.ts',
      'test/e2e/story.test.ts',
      'test/cluster/killed.test.ts',
      'test/attacks/attacks.test.ts',
      'elsewhere/d.test.ts',
    ];
    const texts: Readonly<Record<string, string>> = {
      'test/e2e/story.test.ts': `import { lists } from './requests/lists.ts';\nimport { other } from './other.ts';\n`,
      'test/e2e/requests/lists.ts': `import { test } from 'node:${'test'}';\n`,
      'test/e2e/other.ts': 'export const other = 1;\n',
    };
    for (const file of [...files, ...Object.keys(texts)]) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), texts[file] ?? '');
    }
  });
  after(() => rmSync(root, { recursive: true }));

  test('has all our test files, and keeps those of packages, of whole systems and of loads apart', () => {
    assert.deepEqual(findTestFiles(root, []), {
      beside: ['libs/a/src/b.test.ts', 'libs/executor/src/node-runner.test.ts', 'services/s/src/c.test.ts'],
      installed: ['libs/client/src/e.test.ts', 'libs/executor/src/node-runner.test.ts'],
      wholeSystem: ['test/cluster/killed.test.ts', 'test/e2e/story.test.ts'],
      loads: ['test/attacks/attacks.test.ts'],
    });
  });

  test('has only those whose path contains one of the given words', () => {
    assert.deepEqual(findTestFiles(root, ['libs/', 'story']), {
      beside: ['libs/a/src/b.test.ts', 'libs/executor/src/node-runner.test.ts'],
      installed: ['libs/client/src/e.test.ts', 'libs/executor/src/node-runner.test.ts'],
      wholeSystem: ['test/e2e/story.test.ts'],
      loads: [],
    });
  });

  test('also finds a file by the path of a module that holds its tests, but of no other import', () => {
    assert.deepEqual(findTestFiles(root, ['requests/lists']).wholeSystem, ['test/e2e/story.test.ts']);
    assert.deepEqual(findTestFiles(root, ['e2e/other']).wholeSystem, []);
  });
});
