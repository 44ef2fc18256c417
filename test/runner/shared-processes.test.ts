import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../harness/temp-folder.ts';
import { inSuite, sharedProcesses } from './shared-processes.ts';

// Not whole: these words in this file would give it a process of its own.
const [CPU, CHILD] = [`${'process'}.cpuUsage()`, `import { spawn } from 'node:child${'_'}process';\n`];

const FILES: Readonly<Record<string, string>> = {
  'a/pure.test.ts': `import { one } from './one.ts';\ntest('a process', one);\n`,
  'a/measured.test.ts': `test('m', () => ${CPU});\n`,
  'a/by-fixture.test.ts': `import { use } from './middle.fixture.ts';\n`,
  'a/middle.fixture.ts': `import {\n  start,\n} from './deep.fixture.ts';\n`,
  'a/deep.fixture.ts': CHILD,
  'a/of-code.test.ts': `import { spawns } from './spawns.ts';\n`,
  'a/spawns.ts': CHILD,
  'b/server.test.ts': `import { testNats } from '@methods/test/harness/${'nats'}';\n`,
  'b/database.test.ts': `import { testPostgres } from '@methods/test/harness/postgres';\n`,
};

test('files share a process unless they or their fixtures measure it, start another or a server', () => {
  const root = tempFolder('shared-processes');
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const tests = Object.keys(FILES).filter((name) => name.endsWith('.test.ts'));
  assert.deepEqual(sharedProcesses(root, tests), [
    ['a/pure.test.ts', 'a/of-code.test.ts', 'b/database.test.ts'],
    ['a/measured.test.ts'],
    ['a/by-fixture.test.ts'],
    ['b/server.test.ts'],
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

test("a file's tests and hooks are in a suite of its name, on the lines they have", () => {
  const imports = ["// Why.\nimport {\n  test,\n} from 'node:test';", "import { b } from './b.ts';"];
  const body = "\ntest('t', () => `\nimport x from 'y';\n`);";
  const suited = inSuite('a/b.test.ts', `${imports.join('\n')}\n${body}`);
  assert.equal(
    suited,
    `import { describe as inFile } from 'node:test'; ${imports.join('\n')}\n\n inFile("a/b.test.ts", () => {${body.slice(1)}\n});`,
  );
});
