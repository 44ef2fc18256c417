import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isRunning } from '@methods/base/running-process';
import { programArguments } from '@methods/test/harness/program-arguments';
import { until } from '@methods/test/harness/until';
import { ensureEnvironment } from './environment-store.ts';
import { NOTHING, PATH, PackageIndex } from './package-index.fixture.ts';

const KEPT = [{ name: 'kept', version: '1.0.0' }];
const CODE = new URL('./prepare-dependencies.ts', import.meta.url);
const OLD = new Date(Date.now() - 40 * 24 * 3_600_000);

let index: PackageIndex;
let lock: Uint8Array;
before(async () => {
  index = await PackageIndex.start();
  await index.addNpm('kept', '1.0.0', { 'index.js': 'export const a = 1' });
  lock = (await index.prepare({ npm: KEPT })).lock ?? new Uint8Array();
});
after(() => index.stop());

/** Prepares in a separate process, and prints where. */
function elsewhere(cacheDir: string): ChildProcess {
  const options = { cacheDir, allowScripts: false, path: PATH };
  const code = `const { prepareDependencies } = await import(${JSON.stringify(CODE.href)});
    const lock = Buffer.from(${JSON.stringify(Buffer.from(lock).toString('base64'))}, 'base64');
    const options = { ...${JSON.stringify(options)}, lock, host: new Map(${JSON.stringify([...index.host])}) };
    const method = { dependencies: ${JSON.stringify({ ...NOTHING, npm: KEPT })} };
    console.log((await prepareDependencies(method, options)).environment.nodePath)`;
  return spawn(process.execPath, programArguments(code, CODE), { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Returns the processes that work in the folder or below it. */
function processesIn(folder: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}

async function printed(child: ChildProcess): Promise<string> {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0);
  return Buffer.concat(chunks).toString().trim();
}

describe('an environment', () => {
  it('may be prepared by several processes at once', async () => {
    const cacheDir = join(index.dir, 'shared');
    const [one, two] = await Promise.all([printed(elsewhere(cacheDir)), printed(elsewhere(cacheDir))]);
    assert.equal(one, two);
    assert.deepEqual(await readdir(join(one ?? '', 'kept')), ['index.js', 'package.json']);
    assert.equal((await readdir(cacheDir)).length, 1);
  });

  it('is built once for concurrent runs, even if the run that began it is stopped', async () => {
    const cacheDir = join(index.dir, 'together');
    const folder = join(cacheDir, 'c'.repeat(64));
    const stop = new AbortController();
    let builds = 0;
    const make = async (made: string) => {
      builds++;
      await mkdir(join(made, 'whole'));
    };
    let others: Promise<void>[] = [];
    const stopped = ensureEnvironment({ cacheDir, signal: stop.signal }, folder, async () => {
      others = [1, 2].map(() => ensureEnvironment({ cacheDir }, folder, make));
      // They have asked for the folder by then, and wait.
      await readdir(cacheDir);
      stop.abort();
      throw new Error('it was stopped');
    });
    await assert.rejects(stopped, /it was stopped/);
    await Promise.all(others);
    assert.equal(builds, 1);
    assert.deepEqual(await readdir(folder), ['whole']);
  });

  it('is never incomplete: a killed build ends with its npm and leaves a separate folder, which is removed later', async () => {
    const cacheDir = join(index.dir, 'killed');
    index.silentAbout = '.tgz';
    await rm(join(index.dir, 'npm-cache'), { recursive: true });
    const asked = index.requests.length;
    const builder = elsewhere(cacheDir);
    await until(
      'the package is fetched',
      () => index.requests.slice(asked).some((url) => url.endsWith('.tgz')),
      300_000,
    );
    const managers = processesIn(cacheDir);
    assert.notDeepEqual(managers, []);
    builder.kill('SIGKILL');
    await once(builder, 'close');
    await until('the processes have ended', () => !managers.some(isRunning));
    const left = await readdir(cacheDir);
    assert.match(left.join(), /^\.building-[^,]+$/);
    index.silentAbout = '';
    const { environment } = await index.prepare({ npm: KEPT }, { lock, cacheDir });
    assert.deepEqual(await readdir(join(environment.nodePath ?? '', 'kept')), ['index.js', 'package.json']);
    assert.equal((await readdir(cacheDir)).length, 2, 'the folder may be of a running build');
    await utimes(join(cacheDir, left[0] ?? ''), OLD, OLD);
    await index.prepare({ npm: KEPT }, { lock, cacheDir, allowScripts: true });
    assert.deepEqual(
      (await readdir(cacheDir)).filter((name) => name.startsWith('.')),
      [],
    );
  });

  it('is removed when it was not prepared for weeks', async () => {
    const cacheDir = join(index.dir, 'weeks');
    const [unused, used] = ['a', 'b'].map((digit) => join(cacheDir, digit.repeat(64)));
    const foreign = join(cacheDir, 'of-somebody');
    const { environment } = await index.prepare({ npm: KEPT }, { lock, cacheDir });
    const [own = ''] = environment.folders;
    for (const folder of [unused, used, foreign]) await mkdir(folder ?? '');
    for (const folder of [unused, foreign, own]) await utimes(folder ?? '', OLD, OLD);
    // A preparation is a use.
    await index.prepare({ npm: KEPT }, { lock, cacheDir });
    await index.prepare({ npm: KEPT }, { lock, cacheDir, allowScripts: true });
    const left = (await readdir(cacheDir)).map((name) => join(cacheDir, name));
    assert.ok(!left.includes(unused ?? ''));
    for (const folder of [used, foreign, own]) assert.ok(left.includes(folder ?? ''), folder);
  });
});
