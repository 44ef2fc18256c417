import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { CodeHarness } from '../code-harness.fixture.ts';
import { node } from '../hand-built-method.fixture.ts';
import { isolationLevel } from '../isolation.ts';
import { PLAIN_ENVIRONMENT } from '../prepared-environment.ts';
import { PATH, PackageIndex } from './package-index.fixture.ts';
import type { PreparedDependencies } from './prepare-dependencies.ts';

let index: PackageIndex;
/** With packages of both kinds. */
let both: PreparedDependencies;
before(async () => {
  index = await PackageIndex.start();
  await index.addNpm(
    'says',
    '1.2.0',
    { 'index.js': "import { loud } from 'louder'; export const say = (t) => loud(t)" },
    { dependencies: { louder: '^2.0.0' } },
  );
  await index.addNpm(
    'louder',
    '2.0.1',
    { 'index.js': 'export const loud = (t) => t.toUpperCase()', 'bin.js': BIN },
    { bin: { louder: 'bin.js' } },
  );
  // Large enough for pip to report its download.
  const large = `# ${'x'.repeat(100_000)}\n`;
  await index.addWheel('pysays', '0.9', `def say(text="hi"):\n    print(text)\n    return text * 2\n${large}`);
  await index.addWheel('pysays', '0.9', 'else = 1', 'py3-none-win_arm64');
  both = await index.prepare({ npm: SAYS, pip: PYSAYS });
});
after(() => index.stop());

const BIN = '#!/usr/bin/env node\nconsole.log("LOUD")';
const SAYS = [{ name: 'says', version: '1.2.0' }];
const PYSAYS = [{ name: 'pysays', version: '0.9' }];

describe('dependencies', () => {
  it('do not use the disk without packages', async () => {
    const cacheDir = join(index.dir, 'untouched');
    const { environment, lock } = await index.prepare({ node: '20', commands: ['sh'] }, { cacheDir });
    assert.deepEqual([environment, lock], [PLAIN_ENVIRONMENT, null]);
    await assert.rejects(stat(cacheDir), { code: 'ENOENT' });
  });

  it('give the same lock each time', async () => {
    const again = await index.prepare({ npm: SAYS, pip: PYSAYS });
    const locks = [both, again].map(({ lock }) => Buffer.from(lock ?? []).toString());
    assert.equal(locks[0], locks[1]);
    assert.equal(JSON.parse(locks[0] ?? '').format, 'lock/1');
  });

  it('need nothing prepared where there are only runtimes and commands', async () => {
    assert.equal((await index.prepare({ node: '20', python: '3.8', commands: ['sh', 'tar'] })).lock, null);
    assert.match(
      await index.refused({ commands: ['sh', 'no-such-command'] }),
      /^The command no-such-command is not on the worker's PATH/,
    );
    assert.match(await index.refused({ node: '99.1' }), /needs Node\.js 99\.1 or later/);
    assert.match(await index.refused({ python: '3.99' }), /needs Python 3\.99 or later; this worker has 3\.\d+/);
  });

  it('are installed as the lock says, once, and again from only the lock', async () => {
    const first = await index.prepare({ npm: SAYS });
    const text = Buffer.from(first.lock ?? []).toString();
    assert.match(text, /"louder"|node_modules\/louder/);
    assert.ok(!text.includes('127.0.0.1'), 'the lock names no address');
    // A newer version that fits the range must not be taken any more.
    await index.addNpm(
      'louder',
      '2.9.0',
      { 'index.js': 'export const loud = (t) => `${t.toUpperCase()}!`', 'bin.js': BIN },
      { bin: { louder: 'bin.js' } },
    );
    const asked = index.requests.length;
    const again = await index.prepare({ npm: SAYS }, { lock: first.lock ?? new Uint8Array() });
    assert.deepEqual(again, first);
    assert.equal(index.requests.length, asked, 'it came from the cache');
    const elsewhere = await index.prepare(
      { npm: SAYS },
      { lock: first.lock ?? new Uint8Array(), cacheDir: join(index.dir, 'other') },
    );
    const { version } = JSON.parse(
      (await promisify(execFile)('cat', [join(elsewhere.environment.nodePath ?? '', 'louder/package.json')])).stdout,
    );
    assert.equal(version, '2.0.1');
    assert.deepEqual(
      (await readdir(join(index.dir, 'cache'))).filter((it) => it.startsWith('.')),
      [],
      'no building folder is left',
    );
  });

  it("run no scripts of packages unless that is allowed, and never show them the worker's environment", async () => {
    const scripts = { postinstall: 'echo "$NOT_A_SETTING" > installed' };
    await index.addNpm('scripted', '1.0.0', { 'index.js': '' }, { scripts });
    const scripted = [{ name: 'scripted', version: '1.0.0' }];
    const file = (folder: string | null) => join(folder ?? '', 'scripted/installed');
    const without = await index.prepare({ npm: scripted });
    await assert.rejects(stat(file(without.environment.nodePath)), { code: 'ENOENT' });
    const lock = without.lock ?? new Uint8Array();
    const allowed = await index.prepare({ npm: scripted }, { lock, allowScripts: true });
    assert.equal((await stat(file(allowed.environment.nodePath))).size, 1);
  });

  it('share a pip that is in no environment, and that packages which may run code never reach', async () => {
    const start = 'import sys, pathlib; pathlib.Path(sys.prefix, "started").touch()';
    await index.addWheel('pystarts', '1.0', '', undefined, start);
    const pystarts = [{ name: 'pystarts', version: '1.0' }];
    const { environment, lock } = await index.prepare({ pip: pystarts });
    const [folder = ''] = environment.folders;
    await assert.rejects(stat(join(folder, 'python/started')), { code: 'ENOENT' }, 'it ran at its installation');
    const withPip = async (cacheDir: string) => {
      const names = await readdir(cacheDir);
      return names.filter((name) => existsSync(join(cacheDir, name, 'python/bin/pip')));
    };
    assert.equal((await withPip(join(index.dir, 'cache'))).length, 1);
    const options = { lock: lock ?? new Uint8Array(), cacheDir: join(index.dir, 'allowed'), allowScripts: true };
    const allowed = (await index.prepare({ pip: pystarts }, options)).environment;
    assert.deepEqual(await withPip(options.cacheDir), []);
    for (const { pythonCommand } of [environment, allowed]) {
      const code = 'import pystarts, importlib.util as u; print([u.find_spec(n) for n in ("pip", "setuptools")])';
      assert.equal((await promisify(execFile)(pythonCommand, ['-c', code])).stdout, '[None, None]\n');
    }
  });

  const isolation = isolationLevel('/usr/local/bin:/usr/bin:/bin');
  it('include the installation that the python of their venv links to, which a sandbox would not show otherwise', async () => {
    const { stdout } = await promisify(execFile)('python3', ['-c', 'import sys; print(sys.base_prefix)'], {
      env: { PATH },
    });
    assert.ok(both.environment.folders.includes(stdout.trim()), both.environment.folders.join());
  });

  it('are what code steps import and call, also in a sandbox', async (test) => {
    const { environment, lock } = both;
    assert.equal(
      Buffer.from(lock ?? [])
        .toString()
        .match(/sha256:/g)?.length,
      2,
      'the files of all platforms are locked',
    );
    for (const level of isolation.level === 'sandbox' ? [undefined, isolation] : [undefined]) {
      const harness = await CodeHarness.start(level === undefined ? {} : { isolation: level });
      try {
        const returned = async (kind: 'node' | 'python' | 'shell', code: string) => {
          const end = await harness.run(node('only', code, { kind }), { environment });
          assert.equal(end.failure, null, `${end.failure?.message} ${end.log?.text}`);
          return end.returned;
        };
        assert.match(String(await returned('node', "import { say } from 'says';\nreturn say('hi')")), /^HI/);
        assert.match(String(await returned('node', "return (await import('says')).say('ho')")), /^HO/);
        assert.equal(await returned('python', 'import pysays\nreturn pysays.say("a")'), 'aa');
        assert.deepEqual(await returned('shell', 'step out said "$(pysays-say) $(louder)"'), { said: 'hi LOUD' });
        const other = await harness.run(node('only', "import 'says'"), { environment: PLAIN_ENVIRONMENT });
        assert.match(other.failure?.message ?? '', /Cannot find package 'says'/);
      } finally {
        await harness.stop();
      }
    }
    if (isolation.level !== 'sandbox') test.diagnostic(isolation.text);
  });
});
