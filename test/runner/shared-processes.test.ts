import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../harness/temp-folder.ts';
import { inSuite, sharedProcesses, sharedStacks } from './shared-processes.ts';

// Split, so that these words do not give this file a process of its own.
const [EXIT, CHILD] = [`${'process'}.exit()`, `import { spawn } from 'node:child${'_'}process';\n`];

const FILES: Readonly<Record<string, string>> = {
  'a/pure.test.ts': `import { one } from './one.ts';\ntest('a process', one);\n`,
  'a/ends.test.ts': `test('m', () => ${EXIT});\n`,
  'a/looks.test.ts': `import { look } from './look.fixture.ts';\n`,
  'a/look.fixture.ts': `export const look = () => ${EXIT};\n`,
  'a/by-fixture.test.ts': `import { use } from './middle.fixture.ts';\n`,
  'a/middle.fixture.ts': `import {\n  start,\n} from './deep.fixture.ts';\n`,
  'a/deep.fixture.ts': CHILD,
  'a/of-code.test.ts': `import { spawns } from './spawns.ts';\n`,
  'a/spawns.ts': CHILD,
  'b/server.test.ts': `import { testNats } from '@methods/test/harness/${'nats'}';\n`,
  'b/database.test.ts': `import { testPostgres } from '@methods/test/harness/postgres';\n`,
};

test('files share a process: few if they start others, none if they test or end their own', () => {
  const root = tempFolder('shared-processes');
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const tests = Object.keys(FILES).filter((name) => name.endsWith('.test.ts'));
  assert.deepEqual(sharedProcesses(root, tests), [
    ['a/ends.test.ts'],
    ['a/looks.test.ts'],
    ['a/by-fixture.test.ts', 'b/server.test.ts'],
    ['a/pure.test.ts', 'a/of-code.test.ts', 'b/database.test.ts'],
  ]);
  rmSync(root, { recursive: true });
});

test('files that import the same common stack share a process', () => {
  const root = tempFolder('shared-stacks');
  const files = {
    'c/one.test.ts': './common-stack.ts',
    'c/other.test.ts': './three-nodes.ts',
    'c/own.test.ts': null,
    'c/two.test.ts': './common-stack.ts',
    'c/deep/four.test.ts': '../three-nodes.ts',
    'e/three.test.ts': './common-stack.ts',
  };
  for (const [name, module] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    const text = module === null ? '// No commonStack().' : `import { commonStack, type Stack } from '${module}';`;
    writeFileSync(join(root, name), `import { test } from 'node:test';\n${text}\n`);
  }
  assert.deepEqual(sharedStacks(root, Object.keys(files)), [
    ['c/one.test.ts', 'c/two.test.ts'],
    ['c/other.test.ts', 'c/deep/four.test.ts'],
    ['c/own.test.ts'],
    ['e/three.test.ts'],
  ]);
  rmSync(root, { recursive: true });
});

test('files that ask for the same common server, also by a fixture, are one process', () => {
  const root = tempFolder('shared-servers');
  const files = {
    'g/routes/one.test.ts': `import { fileApi } from '../testing/file-api.fixture.ts';`,
    'g/two.test.ts': `import { commonRegistryProcess, type Sql } from '@methods/test/harness/registry-process';`,
    'g/pure.test.ts': `import { one } from './one.ts';`,
    'g/ends.test.ts': `import { commonRegistryProcess } from '@methods/test/harness/registry-process';\n${EXIT};`,
    'g/testing/file-api.fixture.ts': `import { commonApi } from './api.fixture.ts';`,
    'g/testing/api.fixture.ts': `import { commonRegistryProcess } from '@methods/test/harness/registry-process';`,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), `${text}\n`);
  }
  const tests = Object.keys(files).filter((name) => name.endsWith('.test.ts'));
  assert.deepEqual(sharedProcesses(root, tests), [
    ['g/routes/one.test.ts', 'g/two.test.ts'],
    ['g/ends.test.ts'],
    ['g/pure.test.ts'],
  ]);
  rmSync(root, { recursive: true });
});

test('a process has a bounded number of files', () => {
  const files = Array.from({ length: 30 }, (_, n) => `absent-${n}.test.ts`);
  assert.deepEqual(
    sharedProcesses('/', files).map((group) => group.length),
    [12, 12, 6],
  );
});

test("a file's tests and hooks are in a suite of its name and keep their lines", () => {
  const imports = ["// Why.\nimport {\n  test,\n} from 'node:test';", "import { b } from './b.ts';"];
  const body = "\ntest('t', () => `\nimport x from 'y';\n`);";
  const suited = inSuite('a/b.test.ts', `${imports.join('\n')}\n${body}`);
  assert.equal(
    suited,
    `import { describe as inFile } from 'node:test'; import { reportCpuOfFile } from '@methods/test/runner/cpu-report'; ${imports.join('\n')}\n\n inFile("a/b.test.ts", () => { reportCpuOfFile("a/b.test.ts");${body.slice(1)}\n});`,
  );
});
