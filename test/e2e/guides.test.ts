// The programs of docs/guides, word for word, against a running stack: the worker of the container guide executes what
// the web apps start, and the scripts bring their own.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildCode } from '@methods/client/pack/build-package';
import { compileMethod } from '@methods/method/compile';
import { buildWheel } from '@methods/packages/python-wheel';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { builtImage, canContain, commandFor, processOf, startContained } from './contained-worker.ts';
import { containerFile, guideFile } from './guide-code.ts';
import { pythonWith } from './python-environment.ts';
import { SavedMethod } from './saved-method.ts';
import type { Stack } from './stack.ts';
import { type Program, startProgram } from './started-program.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FASTAPI = [
  'fastapi==0.121.3',
  'uvicorn==0.38.0',
  'python-multipart==0.0.20',
  'httpx==0.28.1',
  'cryptography>=38',
];
const TOKEN = { SHOP_TOKEN: 'made-up-shop-token' };

describe('the guides', () => {
  let stack: Stack;
  let method: SavedMethod;
  const programs: Program[] = [];
  /** Executes what the web apps start. */
  let worker: Program;
  let imageFolder = '';
  let reasonWithoutContainer: string | null = null;

  before(async () => {
    stack = await commonStack();
    const source = guideFile('refund-order.method');
    assert.deepEqual(compileMethod(source).diagnostics, []);
    method = await SavedMethod.create(stack, source);
    await method.publish();
    const image = (await canContain()) ? await builtImage() : { missing: 'bubblewrap does not work here' };
    if ('missing' in image) {
      reasonWithoutContainer = image.missing;
      const command = [join(ROOT, 'libs/cli/bin/methods.mjs'), 'worker', '--method', method.id];
      const env = { PATH: process.env.PATH, HOME: tempFolder('worker-home'), ...settings(), ...TOKEN };
      worker = started(process.execPath, command, ROOT, env);
    } else {
      imageFolder = image.folder;
      worker = startContained(imageFolder, commandFor(method.id), { ...settings(), ...TOKEN });
    }
    programs.push(worker);
  });
  after(async () => {
    for (const { child, ended } of programs) {
      child.kill('SIGKILL');
      await ended;
    }
  });

  const settings = () => ({ SERVICE_API_KEY: stack.ready.api_key, METHODS_SERVER: stack.ready.base_url });

  function started(command: string, args: string[], cwd: string, env: Record<string, string | undefined>): Program {
    const program = startProgram(command, args, { cwd, env });
    programs.push(program);
    return program;
  }

  /** As `npm install` leaves it. */
  async function nodeApp(): Promise<string> {
    const folder = tempFolder('guide-node');
    const modules = join(folder, 'node_modules');
    mkdirSync(join(modules, '@methods/client'), { recursive: true });
    await buildCode(join(modules, '@methods/client'));
    symlinkSync(join(ROOT, 'node_modules/fastify'), join(modules, 'fastify'));
    return folder;
  }

  /** The unpacked wheel, and a Python with its packages. */
  async function pythonApp(t: TestContext): Promise<{ python: string; folder: string; path: string } | null> {
    const found = await pythonWith(FASTAPI);
    if ('missing' in found) {
      t.skip(found.missing);
      return null;
    }
    const folder = tempFolder('guide-python');
    const path = join(folder, 'site');
    const python = join(found.bin, 'python');
    const wheel = await buildWheel(folder, join(folder, 'scratch'));
    await run(python, ['-m', 'zipfile', '-e', join(folder, wheel), path]);
    return { python, folder, path };
  }

  async function web(start: (env: Record<string, string>) => Program): Promise<void> {
    const url = `http://127.0.0.1:${await freePort()}`;
    const secret = stack.ready.webhook_secret;
    const program = start({ ...settings(), METHOD: method.id, WEBHOOK_SECRET: secret, APP_URL: url });
    const page = async (path: string) => (await fetch(`${url}${path}`)).text();
    const post = (path: string, form: Record<string, string>) =>
      fetch(`${url}${path}`, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
    const home = await until('the app listens', () => {
      if (program.child.exitCode !== null) assert.fail(program.errors());
      return page('/').catch(() => null);
    });

    // Sent twice, as by a double click, the form starts one run.
    const [, key = assert.fail(home)] = /name="key" value="([^"]+)"/.exec(home) ?? [];
    const form = { key, order: `<b>${key.slice(0, 8)}</b>`, amount: '250' };
    const [first, second] = await Promise.all([post('/refunds', form), post('/refunds', form)]);
    const path = first.headers.get('location') ?? assert.fail(await first.text());
    assert.deepEqual([first.status, second.status, second.headers.get('location')], [303, 303, path]);
    const runId = path.split('/').at(-1) ?? '';

    const asks = await until('the run asks', async () => {
      const text = await page(path);
      return text.includes('name="question"') && text;
    });
    assert.ok(asks.includes('Refund 250 EUR for') && !asks.includes('<b>'), asks);
    const [, question = ''] = /name="question" value="([^"]+)"/.exec(asks) ?? [];
    const misfit = await post(`${path}/answer`, { question, decision: 'perhaps' });
    assert.deepEqual([misfit.status, (await misfit.text()).includes('/decision')], [422, true]);
    assert.equal((await post(`${path}/answer`, { question, decision: 'approve' })).status, 303);
    assert.equal((await post(`${path}/answer`, { question, decision: 'reject' })).status, 409);
    await until('the page shows the refund', async () => (await page(path)).includes('succeeded re_'));
    await until('the webhook has arrived', async () => (await page('/')).includes(`>${runId}</a> succeeded`));

    const event = JSON.stringify({ event: 'succeeded', run_id: 'run_forged', status: 'succeeded', seq: 9 });
    const now = Math.floor(Date.now() / 1000);
    const signed = (t: number, by: string) =>
      `t=${t},v1=${createHmac('sha256', by).update(`${t}.${event}`).digest('hex')}`;
    for (const signature of ['', 't=1,v1=00', signed(now, 'whsec_other'), signed(now - 3_600, secret)]) {
      const headers = { 'content-type': 'application/json', 'service-signature': signature };
      const refused = await fetch(`${url}/webhooks`, { method: 'POST', body: event, headers });
      assert.equal(refused.status, 400, signature);
    }
    assert.ok(!(await page('/')).includes('run_forged'));
    assert.equal((await fetch(`${url}/refunds/run_none`)).status, 404);
    program.child.kill('SIGTERM');
    await program.ended;
  }

  test('the web app in Node starts runs, answers their questions and accepts only signed webhooks', async () => {
    const folder = await nodeApp();
    writeFileSync(join(folder, 'app.mjs'), guideFile('app.mjs'));
    await web((env) =>
      started(process.execPath, ['app.mjs'], folder, { PATH: process.env.PATH, HOME: folder, ...env }),
    );
  });

  test('the web app in Python does the same', async (t) => {
    const app = await pythonApp(t);
    if (app === null) return;
    writeFileSync(join(app.folder, 'app.py'), guideFile('app.py'));
    await web((env) => {
      const args = ['-m', 'uvicorn', 'app:app', '--port', new URL(env.APP_URL ?? '').port];
      const own = { PATH: process.env.PATH, HOME: app.folder, PYTHONPATH: app.path };
      return started(app.python, args, app.folder, { ...own, ...env });
    });
  });

  /** Each order once, however often the script is run. */
  async function script(folder: string, start: (env: Record<string, string>) => Program): Promise<void> {
    const orders = guideFile('orders.csv').replaceAll('ord_', `ord_${randomUUID().slice(0, 8)}_`);
    writeFileSync(join(folder, 'orders.csv'), orders);
    const env = { ...settings(), ...TOKEN, METHOD: method.id };
    const first = start(env);
    await until('it asks the person', () => {
      if (first.child.exitCode !== null) assert.fail(first.printed() + first.errors());
      return first.printed().includes('(y/n)');
    });
    first.type('n');
    assert.equal(await first.ended, 0, first.errors());
    const outcomes = (program: Program) => program.printed().match(/\S+ run_\w+ \w+ \w+/g) ?? [];
    assert.deepEqual(
      outcomes(first).map((line) => line.split(' ').slice(2)),
      [
        ['succeeded', 'approve'],
        ['succeeded', 'reject'],
      ],
    );
    const again = start(env);
    assert.equal(await again.ended, 0, again.errors());
    assert.deepEqual(outcomes(again), outcomes(first));
    const refused = start({ ...env, SERVICE_API_KEY: `${env.SERVICE_API_KEY.slice(0, -1)}` });
    assert.equal(await refused.ended, 1);
    assert.match(refused.errors(), /mistyped or cut/);
  }

  test('the script in Node asks its person, and finds its runs again when it is repeated', async () => {
    const folder = await nodeApp();
    writeFileSync(join(folder, 'refunds.mjs'), guideFile('refunds.mjs'));
    const own = { PATH: process.env.PATH, HOME: folder };
    await script(folder, (env) => started(process.execPath, ['refunds.mjs'], folder, { ...own, ...env }));
  });

  test('the script in Python does the same', async (t) => {
    const app = await pythonApp(t);
    if (app === null) return;
    writeFileSync(join(app.folder, 'refunds.py'), guideFile('refunds.py'));
    const own = { PATH: process.env.PATH, HOME: app.folder, PYTHONPATH: app.path };
    await script(app.folder, (env) => started(app.python, ['refunds.py'], app.folder, { ...own, ...env }));
  });

  test('the worker of the container guide runs on a read-only root, and ends well at SIGTERM', async (t) => {
    const { image, runs, volumes } = containerFile();
    assert.match(image, /^node:2[02-9]-/);
    assert.match(runs.join('\n'), /apt-get install .*\bbubblewrap\b/);
    // A volume of the image belongs to root unless its folder was given away before.
    for (const place of volumes)
      assert.ok(
        runs.some((command) => command.endsWith(`chown node:node ${place}`)),
        place,
      );
    if (reasonWithoutContainer !== null) return t.skip(reasonWithoutContainer);
    const doctor = startContained(imageFolder, ['node_modules/.bin/methods', 'doctor'], settings());
    await doctor.ended;
    assert.match(doctor.printed(), /Steps run (?:in|without) a sandbox/);
    const { run_id: runId } = (await stack.api.start({ method: method.id, inputs: { order: 'ord_c', amount: 1 } })).run;
    await until('it asks', async () => (await stack.api.get(runId)).run.status === 'waiting');
    process.kill(processOf(method.id), 'SIGTERM');
    assert.equal(await worker.ended, 0, worker.errors());
    assert.ok(!`${worker.printed()}${worker.errors()}`.includes(TOKEN.SHOP_TOKEN));
    await stack.api.cancel(runId);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
