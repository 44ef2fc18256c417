// The examples together show the whole language: every key of every table is in one of them at its place.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DEPENDENCY_KEYS, LIB_KEYS } from '@methods/method/dependencies/read-dependencies';
import { Findings } from '@methods/method/source/findings';
import { readYaml } from '@methods/method/source/read-yaml';
import { entriesOf, type SourceNode } from '@methods/method/source/source-node';
import { SourceText } from '@methods/method/source/source-text';
import {
  ASK_KEYS,
  AUTH_KEYS,
  CHECK_KEYS,
  HTTP_KEYS,
  type KeyTable,
  METHOD_KEYS,
  METHOD_LIMIT_KEYS,
  REPEAT_KEYS,
  RETRY_KEYS,
  STEP_KEYS,
  STEP_LIMIT_KEYS,
  WAIT_KEYS,
} from '@methods/method/structure/keys';
import { EXPECT_KEYS, MOCK_ERROR_KEYS, TEST_KEYS } from '@methods/method/tests-section/test-keys';

/** The value below a key of a table: another table, of the value itself or of each of its items. */
const BELOW = new Map<KeyTable, Readonly<Record<string, KeyTable>>>([
  [
    METHOD_KEYS,
    {
      dependencies: DEPENDENCY_KEYS,
      lib: LIB_KEYS,
      limits: METHOD_LIMIT_KEYS,
      require: CHECK_KEYS,
      ensure: CHECK_KEYS,
      steps: STEP_KEYS,
      on_failure: STEP_KEYS,
      finally: STEP_KEYS,
      tests: TEST_KEYS,
    },
  ],
  [
    STEP_KEYS,
    {
      steps: STEP_KEYS,
      parallel: STEP_KEYS,
      http: HTTP_KEYS,
      ask: ASK_KEYS,
      wait: WAIT_KEYS,
      check: CHECK_KEYS,
      require: CHECK_KEYS,
      ensure: CHECK_KEYS,
      repeat: REPEAT_KEYS,
      retry: RETRY_KEYS,
      limits: STEP_LIMIT_KEYS,
    },
  ],
  [HTTP_KEYS, { auth: AUTH_KEYS }],
  [TEST_KEYS, { expect: EXPECT_KEYS }],
  [EXPECT_KEYS, { that: CHECK_KEYS }],
]);

/** They need a worker with a feature that no worker here has; npm packages would need a registry. */
const LEFT_OUT = new Set(['a step: browser', 'a step: agent', 'dependencies: npm']);

const folder = fileURLToPath(new URL('../../libs/method/examples/', import.meta.url));

function keysUsed(): Set<string> {
  const used = new Set<string>();
  const visit = (node: SourceNode, table: KeyTable): void => {
    if (node.kind === 'list') for (const item of node.items) visit(item, table);
    for (const { key, value } of entriesOf(node)) {
      used.add(`${table.what}: ${key.startsWith('x-') ? 'x-' : key}`);
      const below = BELOW.get(table)?.[key];
      if (below) visit(value, below);
      // An error can replace the out of any mocked step.
      if (table === TEST_KEYS && key === 'mock') visitErrors(value);
    }
  };
  const visitErrors = (mocks: SourceNode): void => {
    for (const { value } of entriesOf(mocks))
      for (const { key, value: error } of entriesOf(value)) if (key === '$error') visit(error, MOCK_ERROR_KEYS);
  };
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.method'))) {
    const root = readYaml(new Findings(new SourceText(readFileSync(folder + file, 'utf8'))));
    assert.ok(root, file);
    visit(root, METHOD_KEYS);
  }
  return used;
}

test('the examples together use every key of the language', () => {
  const used = keysUsed();
  const tables = [METHOD_KEYS, ...[...BELOW.values()].flatMap((below) => Object.values(below)), MOCK_ERROR_KEYS];
  const all = tables.flatMap(({ what, keys }) => keys.map((key) => `${what}: ${key}`));
  const unused = [...new Set(all)].filter((key) => !used.has(key) && !LEFT_OUT.has(key));
  assert.deepEqual(unused, []);
  assert.ok(used.has('a step: x-') && used.has('the method: x-'));
});
