// The packed library, installed in an empty application.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { shapeOf } from '@methods/cli/method-types/method-shape';
import { typescriptFile } from '@methods/cli/method-types/typescript-types';
import { compileMethod } from '@methods/method/compile';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const exec = promisify(execFile);
/** Loading takes 7 ms on a machine of our own; the schemas of the API would add 100. */
const IMPORT_CPU_MS_MAX = 50;

let app: string;
const run = (command: string, args: readonly string[]) =>
  exec(command, args, { cwd: app }).catch((error: { stdout: string; stderr: string }) =>
    assert.fail(`${command} ${args.join(' ')}:\n${error.stdout}\n${error.stderr}`),
  );
const write = (name: string, text: string) => writeFile(join(app, name), text);

before(async () => {
  app = await realpath(await mkdtemp(join(tmpdir(), 'methods-client-app-')));
  const { stdout } = await exec(process.execPath, ['--import', 'tsx', 'libs/client/pack/main.ts', app], { cwd: ROOT });
  await write('package.json', '{"name":"app","private":true}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', stdout.trim()]);
  await mkdir(join(app, 'node_modules/@types'));
  for (const name of ['@types/node', 'undici-types']) {
    await symlink(join(ROOT, 'node_modules', name), join(app, 'node_modules', name));
  }
});
after(() => rm(app, { recursive: true, force: true }));

const KEY_LESS = `try { new Methods({ apiKey: 'sk_x', baseUrl: 'http://server.test' }); }
catch (error) { console.log(error instanceof MethodsError && error.code, typeof webhooks.verify); }`;

test('it has no dependency, and is loaded by ES modules and by CommonJS', async () => {
  const folder = join(app, 'node_modules/@methods/client');
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<string, string>;
  assert.equal(manifest.dependencies, undefined);
  const code = await readFile(join(folder, 'esm/index.js'), 'utf8');
  assert.ok(code.includes(`methods-client-node/${manifest.version} `), 'the user agent has the version');
  assert.deepEqual((await readdir(join(app, 'node_modules/@methods'))).sort(), ['client']);
  for (const name of (await readdir(folder, { recursive: true })).filter((each) => /\.(?:js|ts)$/.test(each))) {
    const text = await readFile(join(folder, name), 'utf8');
    assert.ok(!/(?:from|import\(|require\()\s*["'](?:@methods|typebox)/.test(text), name);
  }
  const licences = await readFile(join(folder, 'INLINED-LICENSES.txt'), 'utf8');
  assert.deepEqual(
    licences.match(/^\S+ \d+\.\d+\.\d+$/gm)?.map((line) => line.split(' ')[0]),
    ['ajv-formats', 'canonicalize', 're2js'],
  );
  await write('load.mjs', `import { Methods, MethodsError, webhooks } from '@methods/client';\n${KEY_LESS}`);
  await write('load.cjs', `const { Methods, MethodsError, webhooks } = require('@methods/client');\n${KEY_LESS}`);
  for (const name of ['load.mjs', 'load.cjs']) {
    assert.equal((await run(process.execPath, [name])).stdout, 'mistyped_key function\n', name);
  }
});

test('loading it is quick', async () => {
  await write(
    'time.mjs',
    `const before = process.cpuUsage(); await import('@methods/client');
const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000);`,
  );
  let leastMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10 && leastMs > IMPORT_CPU_MS_MAX; round++) {
    leastMs = Math.min(leastMs, Number((await run(process.execPath, ['time.mjs'])).stdout));
  }
  assert.ok(leastMs <= IMPORT_CPU_MS_MAX, `${leastMs} ms`);
});

test('an application that only verifies webhooks bundles nothing else', async () => {
  await write('hook.mjs', "import { webhooks } from '@methods/client';\nconsole.log(webhooks.verify);");
  await write('all.mjs', "import { Methods } from '@methods/client';\nconsole.log(Methods);");
  const bundled = async (name: string) => {
    const { outputFiles } = await build({
      entryPoints: [join(app, name)],
      bundle: true,
      minify: true,
      write: false,
      platform: 'node',
      format: 'esm',
      outdir: app,
    });
    return outputFiles.map(({ text }) => text).join('');
  };
  const [hook, all] = [await bundled('hook.mjs'), await bundled('all.mjs')];
  assert.ok(all.includes('/v1/runs'));

  assert.ok(!hook.includes('/v1/') && hook.length < all.length / 5, `${hook.length} of ${all.length} characters`);
});

const METHOD = `format: method/2
name: refund
inputs: { order: string 1..40, amount: number 0.. }
steps:
  - name: approval
    ask: Refund it?
    out: { decision: [approve, reject], note?: string }
  - name: second
    ask: Really?
    out: { go: boolean }
result: { decision: =steps.approval.decision }
`;
const ID = 'wf_01kac0t6xgy9s2m4n8p3q5r7v1';

const CALLS = `
async function calls(methods: Methods): Promise<void> {
  const run = await methods.run({
    method: '${ID}',
    inputs: { order: 'ord_1', amount: 3 },
    onAsk: (asked) => {
      const { runId, form, problems }: { runId: string; form: object; problems: readonly object[] } = asked;
      if (asked.step === 'approval') void asked.answer({ decision: 'approve' });
      // @ts-expect-error
      if (asked.step === 'approval') void asked.answer({ go: true });
      if (runId === '' || form === null || problems.length > 3) return;
      return { decision: 'reject', note: 'No.' };
    },
  });
  // @ts-expect-error
  const early: string = run.result.decision;
  if (run.status === 'succeeded') {
    const decision: 'approve' | 'reject' = run.result.decision;
    console.log(decision, early);
  } else if (run.status === 'failed') console.log(run.error.code, run.question?.prompt, run.steps[0]?.timing.running_ms);
  // @ts-expect-error
  await methods.run({ method: '${ID}', inputs: { order: 3, amount: 3 } });
  // @ts-expect-error
  await methods.start({ method: '${ID}', inputs: { order: 'ord_1' } });
  // @ts-expect-error
  await methods.run({ method: '${ID}', onAsk: () => ({ decision: 'perhaps' }) });
  await methods.start({ method: '${ID}', inputs: { order: 'ord_1', amount: 3 }, metadata: { of: 'a' } });
  const other = await methods.run({ method: 'wf_other', inputs: { any: [1] }, onAsk: async ({ step }) => ({ step }) });
  if (other.status === 'succeeded') console.log(other.result.anything);
  for (const { run: started, error } of await methods.startMany([{ method: 'wf_other', inputs: { a: 1 } }])) {
    console.log(started === undefined ? error.code : started.run_id);
  }
  for await (const listed of methods.runs.list({ status: 'failed' })) {
    console.log(listed.timing.created_at);
    // @ts-expect-error
    console.log(listed.steps);
  }
  for await (const change of methods.runs.events('run_1')) {
    if (change.event === 'step') console.log(change.data.kind);
    else if (change.event === 'run') console.log(change.data.steps.length);
  }
  const sent = await methods.files.upload(new Uint8Array(3), { name: 'a.csv' });
  const file: { file_id: string } = sent;
  (await methods.runs.files.download('run_1', 'steps/a/files/b')).pipe(process.stdout);
  console.log(file, (await methods.methods.get('wf_1')).secrets, webhooks.verify('{}', new Headers(), 'whsec_1').question?.prompt);
}
console.log(calls);
`;

test('its types, with those of a method, check in applications of each kind', async () => {
  const { method } = compileMethod(METHOD);
  await write('refund.ts', typescriptFile(shapeOf(method ?? assert.fail(), ID), 'Types of refund'));
  const types = "import type {} from './refund';\n";
  await write('app.mts', `import { Methods, webhooks } from '@methods/client';\n${CALLS}`);
  await write('app.cts', `import { Methods, webhooks } from '@methods/client';\n${CALLS}`);
  await write('bundled.ts', `import { Methods, webhooks } from '@methods/client';\n${types}${CALLS}`);
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const strict = ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node', '--exactOptionalPropertyTypes'];
  for (const kind of ['node16', 'nodenext']) {
    await run(tsc, [...strict, '--module', kind, '--moduleResolution', kind, 'app.mts', 'app.cts', 'refund.ts']);
  }
  await run(tsc, [...strict, '--module', 'esnext', '--moduleResolution', 'bundler', 'bundled.ts']);
});
