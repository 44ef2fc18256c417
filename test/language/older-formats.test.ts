// The two formats before method/2: workflow/2 runs as it is, workflow/1 becomes a text that runs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RunHarness } from '@methods/executor/run-harness.fixture';
import { StepFetch } from '@methods/executor/step-fetch';
import { compileMethod } from '@methods/method/compile';
import type { JsonObject } from '@methods/method/json';
import { upgradeSource } from '@methods/method/upgrade/upgrade-source';
import { OutsideWorld } from './outside-world.ts';
import { WholeRun } from './whole-run.ts';

const older = new URL('../../libs/method/examples/older/', import.meta.url);
const read = (name: string) => readFileSync(fileURLToPath(new URL(name, older)), 'utf8');

const world = new OutsideWorld();
const web = new StepFetch();
let harness: RunHarness;

before(async () => {
  await world.start();
  harness = await RunHarness.start();
});

after(async () => {
  await harness.stop();
  await web.stop();
  world.stop();
});

function run(source: string, id: string, given: { inputs: JsonObject; answers: Record<string, JsonObject> }) {
  const { method, diagnostics } = compileMethod(source);
  assert.deepEqual(diagnostics, []);
  assert.ok(method);
  const callee = () => Promise.reject(new Error('nothing is called'));
  const secrets = Object.fromEntries(method.secrets.map(({ name }) => [name, 'made-up-value']));
  return WholeRun.walk({ harness, world, web }, id, { method, secrets, callee, ...given });
}

test('a workflow/2 source runs with its older words', async () => {
  const answers = { reason: { text: 'Train to Bonn' } };
  const note = await run(read('expense-note.workflow-2.method'), 'run_older_2', { inputs: { amount: 5.5 }, answers });
  assert.deepEqual(note.result, { line: 'Ann: Train to Bonn' });
  assert.equal(note.questions[0]?.prompt, 'What were the 5.5 EUR for, Ann?');
});

test('the upgraded text of the workflow/1 example is the one beside it', () => {
  const { source, diagnostics } = upgradeSource(read('weekly-report.workflow-1.method'));
  assert.deepEqual(diagnostics, []);
  assert.equal(source, read('weekly-report.upgraded.method'));
});

test('a workflow/1 source is not run as it is', () => {
  const { method, diagnostics } = compileMethod(read('weekly-report.workflow-1.method'));
  assert.equal(method, null);
  assert.deepEqual(
    diagnostics.map(({ code, severity }) => `${severity} ${code}`),
    ['warning U000'],
  );
});

test('the upgraded text runs: a value with quotes and commands in it stays a value', async () => {
  const customer = '$(touch pwned) "; exit 1; # \'';
  const answers = { approve: { answer: 'yes' } };
  const report = await run(read('weekly-report.upgraded.method'), 'run_older_1', { inputs: { customer }, answers });
  assert.deepEqual(report.result, { output: `Mailed 2 orders to ${customer}` });
  assert.equal(report.questions[0]?.prompt, 'Send 2 orders of the last 7 days?');
});

test('the upgraded text stops where the person says no', async () => {
  const answers = { approve: { answer: 'no' } };
  const report = await run(read('weekly-report.upgraded.method'), 'run_older_no', {
    inputs: { customer: 'Ann' },
    answers,
  });
  assert.deepEqual(report.result, { output: null });
});
