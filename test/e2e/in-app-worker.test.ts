// The worker that the Node library starts in its application, for methods that no other worker serves.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { build } from 'esbuild';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { newWholeKey } from './device-keys.ts';
import { NodeApp } from './node-app.ts';
import { SavedMethod } from './saved-method.ts';
import type { Stack } from './stack.ts';

const VISIBLE = `format: method/2
name: visible
secrets: [SHOWN]
steps:
  - name: look
    secrets: [SHOWN]
    node: |
      return { shown: process.env.SHOWN.length, key: process.env.SERVICE_API_KEY === undefined }
    out: { shown: integer, key: boolean }
result:
  shown: =steps.look.shown
  key: =steps.look.key
`;
const GREETING = `format: method/2
name: greeting
inputs: { name: string }
steps:
  - name: greet
    in: [inputs.name]
    node: |
      return { text: 'Hello ' + name }
    out: { text: string }
result: { text: =steps.greet.text }
`;
const SLOW = `format: method/2
name: slow
steps:
  - name: first
    shell: sleep 1
  - name: second
    shell: sleep 600
`;
const HELD = `format: method/2
name: held
steps:
  - name: hold
    shell: sleep 600 || true
  - name: look
    node: |
      return { key: process.env.SERVICE_API_KEY === undefined }
    out: { key: boolean }
result: { key: =steps.look.key }
`;
const OPEN = "import { Methods } from '@methods/client';\nconst methods = new Methods();\n";

describe('the worker in a Node application', () => {
  let stack: Stack;
  let app: NodeApp;
  before(async () => {
    stack = await commonStack();
    app = await NodeApp.create(stack);
  });

  async function published(source: string): Promise<string> {
    const method = await SavedMethod.create(stack, source);
    await method.publish();
    return method.id;
  }

  test('executes its runs, of methods that come later too, shows steps no key, and lets the process end', async () => {
    const [visible, greeting] = [await published(VISIBLE), await published(GREETING)];
    const program = await app.start(
      'runs.mjs',
      `${OPEN}
console.log(JSON.stringify((await methods.run({ method: '${visible}' })).result));
const names = ['Ada', 'Bob', 'Cid', 'Dan', 'Eve', 'Fay', 'Gus'];
const runs = await Promise.all(names.map((name) => methods.run({ method: '${greeting}', inputs: { name } })));
console.log(runs.map(({ result }) => result?.text).join());
await methods.run({ method: 'wf_00000000000000000000000000' }).catch((error) => console.log(error.code));
console.log((await methods.run({ method: '${greeting}', inputs: { name: 'Hal' } })).status);`,
      { SHOWN: 'shown-value' },
    );
    assert.equal(await program.ended, 0, program.errors());
    assert.deepEqual(program.lines, [
      '{"shown":11,"key":true}',
      'Hello Ada,Hello Bob,Hello Cid,Hello Dan,Hello Eve,Hello Fay,Hello Gus',
      'not_found',
      'succeeded',
    ]);
    assert.equal(program.errors(), '');
    await until('nothing is left of it', () => app.processes().length === 0);
  });

  test('executes runs in device mode, whose results stay in the process, and shows steps no part of the key', async () => {
    const { key, contentPart, authPart } = await newWholeKey(stack);
    const held = await published(HELD);
    const program = await app.start(
      'device.mjs',
      `import { Methods } from '@methods/client';
const methods = new Methods({ runData: 'device' });
const asked = [];
const run = await methods.run({ method: '${stack.method('approve')}', inputs: { order_id: 'ord_1', amount: 250 },
  idempotencyKey: 'approve-${contentPart.slice(0, 8)}',
  onAsk: ({ question }) => (asked.push(question.prompt), { decision: 'approve' }) });
console.log(run.status, run.result_at, JSON.stringify(run.result), asked.length);
const again = await methods.run({ method: '${stack.method('approve')}', inputs: { order_id: 'ord_1', amount: 250 },
  idempotencyKey: 'approve-${contentPart.slice(0, 8)}', onAsk: () => undefined });
console.log(again.run_id === run.run_id, JSON.stringify(again.result) === JSON.stringify(run.result));
const large = { method: '${stack.method('large-result')}', inputs: { characters: 100_000, times: 1 } };
console.log((await methods.run(large)).result.a.length);
console.log(JSON.stringify((await methods.run({ method: '${held}' })).result));`,
      { SERVICE_API_KEY: key },
    );
    const path = await until('a step runs', () => app.processes().find((pid) => commandOf(pid).includes('sleep')));
    for (const pid of app.processes().filter((pid) => pid !== program.child.pid)) {
      for (const part of [contentPart, authPart]) assert.ok(!seenOf(pid).includes(part), commandOf(pid));
    }
    process.kill(path);
    assert.equal(await program.ended, 0, program.errors());
    const [first = '', ...others] = program.lines;
    assert.match(first, /^succeeded worker \{.*\} 1$/);
    assert.deepEqual(others, ['true true', '100000', '{"key":true}']);
  });

  test('gives back the runs of others without counting an attempt when it waits for none', async () => {
    const [slow, greeting] = [await published(SLOW), await published(GREETING)];
    const { run_id: runId } = (await stack.api.start({ method: slow })).run;
    const program = await app.start(
      'drains.mjs',
      `${OPEN}
const stop = new AbortController();
const waits = methods.run({ method: '${slow}', signal: stop.signal }).catch(() => {});
for await (const { data } of methods.runs.events('${runId}')) if (data.status === 'running') break;
console.log((await methods.run({ method: '${greeting}', inputs: { name: 'Ada' } })).status);
stop.abort();
await waits;`,
    );
    assert.equal(await program.ended, 0, program.errors());
    assert.deepEqual(program.lines, ['succeeded']);
    const { run } = await stack.api.get(runId);
    assert.deepEqual([run.status, run.attempts], ['queued', 1]);
    await stack.api.cancel(runId);
  });

  test('is gone when its application is killed', async () => {
    const slow = await published(SLOW);
    const program = await app.start(
      'killed.mjs',
      `${OPEN}\nawait methods.run({ method: '${slow}', inputs: {}, idempotencyKey: '${slow}' });`,
    );
    await until('the step has a process', () => app.processes().length > 1);
    program.child.kill('SIGKILL');
    await program.ended;
    await until('nothing is left of it', () => app.processes().length === 0);
    await stack.api.cancel((await stack.api.start({ method: slow, idempotency_key: slow })).run.run_id);
  });

  test('works in an application that esbuild has bundled, and says what to do where the package is missing', async () => {
    const greeting = await published(GREETING);
    const text = `import { Methods } from '@methods/client';
async function greet() {
  const methods = new Methods();
  console.log((await methods.run({ method: '${greeting}', inputs: { name: 'Ada' } })).status);
}
greet().catch((error) => console.log(error.code, error.message.includes('--external:@methods/client')));`;
    const elsewhere = await NodeApp.create(stack);
    for (const format of ['esm', 'cjs'] as const) {
      const name = `bundled.${format === 'esm' ? 'mjs' : 'cjs'}`;
      const bundle = (folder: string) =>
        build({
          stdin: { contents: text, resolveDir: app.folder },
          outfile: join(folder, name),
          bundle: true,
          platform: 'node',
          format,
          logLevel: 'error',
        });
      await bundle(app.folder);
      const program = app.started(name);
      assert.equal(await program.ended, 0, program.errors());
      assert.deepEqual(program.lines, ['succeeded']);
      await bundle(elsewhere.folder);
      await elsewhere.uninstall();
      const refused = elsewhere.started(name);
      assert.equal(await refused.ended, 0, refused.errors());
      assert.deepEqual(refused.lines, ['worker_missing true']);
    }
  });
});

function commandOf(pid: number): string {
  return placeOf(pid, 'cmdline').replaceAll('\0', ' ');
}

/** What other processes of the machine can see of it. */
function seenOf(pid: number): string {
  return placeOf(pid, 'cmdline') + placeOf(pid, 'environ');
}

function placeOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
