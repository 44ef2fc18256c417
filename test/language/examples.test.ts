// Every example is a method a user could save, and one that does what its first line says: each runs here, with real
// child processes and a real server that plays the world around it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { PreparedEnvironment } from '@methods/executor/prepared-environment';
import { PLAIN_ENVIRONMENT } from '@methods/executor/prepared-environment';
import { RunHarness } from '@methods/executor/run-harness.fixture';
import type { Callee } from '@methods/executor/run-options';
import { StepFailure } from '@methods/executor/step-failure';
import { StepFetch } from '@methods/executor/step-fetch';
import { compileMethod } from '@methods/method/compile';
import type { CompiledMethod } from '@methods/method/compiled-method';
import { type ExampleCase, madeUpSecret } from './example-case.ts';
import { financeCases } from './finance-cases.ts';
import { operationsCases } from './operations-cases.ts';
import { OutsideWorld } from './outside-world.ts';
import { peopleCases } from './people-cases.ts';
import { WholeRun } from './whole-run.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const examples = fileURLToPath(new URL('../../libs/method/examples/', import.meta.url));
const cases: readonly ExampleCase[] = [...financeCases, ...peopleCases, ...operationsCases];
const files = readdirSync(examples).filter((file) => file.endsWith('.method'));

/** The published method that triage-ticket calls. */
const PUBLISHED: Readonly<Record<string, string>> = { wf_8Xk2Lq: join(here, 'stand-ins', 'classify-text.method') };

const world = new OutsideWorld();
const web = new StepFetch();
let harness: RunHarness;
let environment: PreparedEnvironment;

before(async () => {
  await world.start();
  harness = await RunHarness.start();
  environment = prepare(harness.dir);
});

after(async () => {
  await harness.stop();
  await web.stop();
  world.stop();
});

for (const file of files) {
  test(`${file} validates without a finding and says in its first line what it does`, () => {
    const source = readFileSync(join(examples, file), 'utf8');
    const { method, diagnostics } = compileMethod(source);
    assert.deepEqual(diagnostics, []);
    assert.equal(`${method?.name}.method`, file);
    assert.match(source, /^(# .+[.:]\s|format:)/);
  });
}

test('every example is run', () => {
  const run = new Set(cases.map(({ method }) => `${method}.method`));
  assert.deepEqual(
    files.filter((file) => !run.has(file)),
    [],
  );
});

test('the tests in the examples pass', () => {
  const command = fileURLToPath(new URL('../../libs/cli/bin/methods.mjs', import.meta.url));
  const paths = files.map((file) => join(examples, file));
  const run = spawnSync(process.execPath, [command, 'test', ...paths, '--json'], {
    cwd: harness.dir,
    encoding: 'utf8',
  });
  assert.equal(run.status, 0, run.stdout + run.stderr);
  const { tests } = JSON.parse(run.stdout) as { tests: { file: string; ok: boolean }[] };
  assert.ok(tests.length >= 15 && tests.every(({ ok }) => ok), `${tests.length} tests ran`);
});

for (const [index, example] of cases.entries()) {
  test(`${example.method}: ${example.shows}`, async () => {
    world.play(example.world);
    const method = compiled(join(examples, `${example.method}.method`));
    const run = await WholeRun.walk({ harness, world, web }, `run_example_${index}`, {
      method,
      inputs: example.inputs,
      files: example.files ?? {},
      secrets: {
        ...Object.fromEntries(method.secrets.map(({ name }) => [name, madeUpSecret(name)])),
        ...example.secrets,
      },
      answers: example.answers ?? {},
      callee,
      environment,
    });
    await example.expect(run, world);
    assert.deepEqual(world.unknown, [], 'unexpected requests');
  });
}

const callee: Callee = async (target) => {
  const path = target.kind === 'file' ? join(examples, target.path) : PUBLISHED[target.method];
  if (path === undefined) throw new StepFailure('call', 'There is no such method');
  return { method: compiled(path), versionId: `ver_of_${path.split('/').at(-1)}`, environment };
};

function compiled(path: string): CompiledMethod {
  const { method, diagnostics } = compileMethod(readFileSync(path));
  assert.ok(method, JSON.stringify(diagnostics));
  return method;
}

/** What the examples depend on: a package for python, and commands that act on a machine of their own. */
function prepare(dir: string): PreparedEnvironment {
  const commands = join(dir, 'commands');
  mkdirSync(commands);
  cpSync(join(here, 'commands'), commands, { recursive: true });
  const venv = join(dir, 'venv');
  execFileSync('python3', ['-m', 'venv', '--without-pip', venv]);
  const [version = ''] = readdirSync(join(venv, 'lib'));
  cpSync(join(here, 'stand-ins', 'pandas.py'), join(venv, 'lib', version, 'site-packages', 'pandas.py'));
  return {
    ...PLAIN_ENVIRONMENT,
    pythonCommand: join(venv, 'bin', 'python'),
    path: commands,
    folders: [venv, commands],
  };
}
