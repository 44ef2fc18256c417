import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { LocalVersionId, VersionId } from '@methods/base/ids';
import { isRunning } from '@methods/base/running-process';
import { nodeArguments } from '@methods/built-code/node-arguments';
import type { JsonValue } from '@methods/method/json';
import { until } from '@methods/test/harness/until';
import { LEAVES_GROUP } from './code-harness.fixture.ts';
import { literal, method, node, out, path } from './hand-built-method.fixture.ts';
import { RunHarness } from './run-harness.fixture.ts';

const harnesses: RunHarness[] = [];
after(() => Promise.all(harnesses.map((harness) => harness.stop())));

async function start(options: Parameters<typeof RunHarness.start>[0] = {}): Promise<RunHarness> {
  const harness = await RunHarness.start(options);
  harnesses.push(harness);
  return harness;
}

const pid = out({ pid: { type: 'integer' } });
const pidStep = (code: string, options: Parameters<typeof node>[2] = {}) =>
  method([node('only', `${code}; return { pid: process.pid }`, { out: pid, ...options })], {
    pid: path('steps', 'only', 'pid'),
  });

async function pidOf(
  harness: RunHarness,
  built: ReturnType<typeof pidStep>,
  versionId: VersionId | LocalVersionId,
): Promise<JsonValue> {
  const outcome = await harness.run(built, { versionId });
  assert.equal(outcome.status, 'succeeded', JSON.stringify(outcome));
  return outcome.status === 'succeeded' ? (outcome.result.pid ?? null) : null;
}

describe('the runner pool', () => {
  it('runs many short steps at once on few processes', async () => {
    const harness = await start({ runnersMax: 64 });
    const built = pidStep('');
    const pids = await Promise.all(Array.from({ length: 300 }, () => pidOf(harness, built, 'ver_short')));
    // More than there are processors where the machine is very busy.
    assert.ok(new Set(pids).size <= 24, `${new Set(pids).size} processes`);
  });

  it('runs long steps side by side', async () => {
    const harness = await start({ runnersMax: 8 });
    // Each continues once four have begun: one after the other, the first would never end.
    const folder = JSON.stringify(await mkdtemp(join(harness.dir, 'met-')));
    const long = pidStep(`const { readdirSync, writeFileSync } = await import('node:fs')
      writeFileSync(${folder} + '/' + process.pid, '')
      while (readdirSync(${folder}).length < 4) await new Promise((go) => setImmediate(go))`);
    const pids = await Promise.all(Array.from({ length: 16 }, () => pidOf(harness, long, 'ver_long')));
    assert.ok(new Set(pids).size >= 4, `${new Set(pids).size} processes`);
    assert.ok(harness.runners.size <= 8);
  });

  it('keeps versions, sets of secrets and memory limits apart', async () => {
    const harness = await start();
    const secrets = new Map([['TOKEN', 'a-long-secret']]);
    const step = (options: Parameters<typeof node>[2]) => pidStep('', options);
    const pids = [
      await pidOf(harness, step({}), 'ver_a'),
      await pidOf(harness, step({}), 'ver_b'),
      await pidOf(harness, step({ limits: { memoryMb: 64 } }), 'ver_a'),
    ];
    const withSecret = await harness.run(step({ secrets: ['TOKEN'] }), { versionId: 'ver_a', secrets });
    assert.ok(withSecret.status === 'succeeded');
    assert.equal(new Set([...pids, withSecret.result.pid]).size, 4);
    assert.equal(await pidOf(harness, step({}), 'ver_a'), pids[0]);
  });

  it('ends the runner idle longest when another key needs its place', async () => {
    const harness = await start({ runnersMax: 2 });
    const first = await pidOf(harness, pidStep(''), 'ver_1');
    const second = await pidOf(harness, pidStep(''), 'ver_2');
    await pidOf(harness, pidStep(''), 'ver_3');
    assert.equal(harness.runners.size, 2);
    assert.equal(await pidOf(harness, pidStep(''), 'ver_2'), second);
    assert.notEqual(await pidOf(harness, pidStep(''), 'ver_1'), first);
  });

  it('passes the only runner to a waiting version while another keeps it busy', async () => {
    const harness = await start({ runnersMax: 1 });
    const slow = pidStep('await new Promise((resolve) => setTimeout(resolve, 20))');
    let ended = 0;
    const busy = Array.from({ length: 50 }, () => pidOf(harness, slow, 'ver_busy').then(() => ended++));
    await until('a step ended', () => ended > 0);
    await pidOf(harness, pidStep(''), 'ver_other');
    assert.ok(ended < 50, 'it did not wait for all of them');
    await Promise.all(busy);
  });

  it('ends idle runners after their time', async () => {
    const harness = await start({ idleMs: 100 });
    const first = Number(await pidOf(harness, pidStep(''), 'ver_1'));
    await until('the processes have ended', () => harness.runners.size === 0 && !isRunning(first));
  });

  for (const [what, code] of Object.entries({
    'a timer': 'setInterval(() => {}, 1000)',
    'an open server': "(await import('node:http')).createServer().listen(0)",
    'a child process': "(await import('node:child_process')).spawn('sleep', ['600'])",
    'a process that left its group': `(await import('node:child_process')).execSync(${JSON.stringify(LEAVES_GROUP)})`,
    'a global name': 'globalThis.left = 1',
    'a changed built-in': 'Array.prototype.map = () => []',
    'a listener of the process': "process.on('exit', () => {})",
  })) {
    it(`replaces a runner in which a step left ${what}`, async () => {
      const harness = await start();
      const first = Number(await pidOf(harness, pidStep(code), 'ver_1'));
      assert.notEqual(await pidOf(harness, pidStep(''), 'ver_1'), first);
      await until('the processes have ended', () => !isRunning(first));
    });
  }

  for (const [what, code] of Object.entries({
    'closed a server': "const server = (await import('node:net')).createServer().listen(0); server.close()",
    'cleared a timer': 'clearTimeout(setTimeout(() => {}, 1000))',
    'waited for a child': "(await import('node:child_process')).execSync('true')",
    'changed a built-in and put it back':
      'const { map } = Array.prototype; Array.prototype.map = 1; Array.prototype.map = map',
    'only fetched': "await (await fetch('http://localhost:' + port)).json()",
  })) {
    it(`keeps a runner whose step ${what}`, async () => {
      const harness = await start();
      const server = createServer((_request, response) => response.end('{}')).listen(0);
      try {
        const { port } = server.address() as AddressInfo;
        const built = pidStep(code, { inputs: { port: literal(port) } });
        const first = await pidOf(harness, built, 'ver_1');
        assert.equal(await pidOf(harness, built, 'ver_1'), first);
      } finally {
        server.close();
        server.closeAllConnections();
      }
    });
  }

  it('replaces a runner whose memory has grown', async () => {
    const harness = await start();
    const kept = "const kept = (await import('node:os')).default;";
    const code = `${kept} kept.all ??= []; for (let i = 0; i < 40000; i++) kept.all.push({ i })`;
    const built = pidStep(code, { limits: { memoryMb: 64 } });
    const pids = new Set<JsonValue>();
    for (let i = 0; i < 64; i++) pids.add(await pidOf(harness, built, 'ver_1'));
    assert.ok(pids.size > 1);
  });

  it('serves the next step after a crash', async () => {
    const harness = await start({ runnersMax: 1 });
    const crash = harness.run(pidStep('process.exit(1)'), { versionId: 'ver_1' });
    const next = pidOf(harness, pidStep(''), 'ver_1');
    assert.equal((await crash).status, 'failed');
    assert.ok(Number(await next) > 0);
  });

  it('fails running and waiting steps when it stops, and leaves no process and no folder', async () => {
    const harness = await RunHarness.start({ runnersMax: 1 });
    const running = harness.run(pidStep('for (;;) {}'), { versionId: 'ver_1' });
    const waiting = harness.run(pidStep(''), { versionId: 'ver_2' });
    await until('the runners are as many', () => harness.runners.size === 1);
    await harness.runners.stop();
    assert.equal((await running).status, 'failed');
    assert.equal((await waiting).status, 'failed');
    assert.deepEqual(await readdir(harness.dir), []);
    await harness.stop();
  });
});

describe('a killed worker', () => {
  it('takes its runners with it, also from inside an endless loop, and their folder', async () => {
    const main = nodeArguments(new URL('./killed-worker.fixture.ts', import.meta.url));
    const worker = spawn(process.execPath, main, { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    worker.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    await until('the worker said its processes', () => said.split('\n').length > 2);
    const [folder = '', ...pids] = said.trim().split(/\s+/);
    assert.ok(pids.length === 2 && pids.every((it) => isRunning(Number(it))) && existsSync(folder));
    worker.kill('SIGKILL');
    await until('the processes have ended', () => !pids.some((it) => isRunning(Number(it))) && !existsSync(folder));
    await rm(dirname(folder), { recursive: true });
  });
});
