import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import type { PythonRuntimes } from '../runners/python-runtime.ts';
import { PackageIndex } from './package-index.fixture.ts';

/** No pauses before a registry is asked again. */
const hasty: Clock = { ...systemClock, after: (_delayMs, run) => systemClock.after(0, run) };
const EXACT = [{ name: 'exact', version: '1.0.0' }];
const PYEXACT = [{ name: 'py_exact', version: '1.0' }];

let index: PackageIndex;
/** Of both packages. */
let lock: Uint8Array;
before(async () => {
  index = await PackageIndex.start();
  await index.addNpm('exact', '1.0.0', { 'index.js': 'export const a = 1' });
  await index.addWheel('py_exact', '1.0', 'a = 1');
  const prepared = await index.prepare({ npm: EXACT, pip: PYEXACT });
  assert.ok(prepared.lock !== null);
  lock = prepared.lock;
});
after(() => index.stop());

describe('dependencies are refused', () => {
  it('when the cache folder cannot be used', async () => {
    const cacheDir = join(index.dir, 'no-folder');
    await writeFile(cacheDir, '');
    assert.match(await index.refused({ npm: EXACT }, { lock, cacheDir }), /^The cache folder .* used: ENOTDIR$/);
    assert.match(await index.refused({ npm: EXACT }, { cacheDir }), /^The cache folder .* used: EEXIST$/);
  });

  it('when the lock is of other packages', async () => {
    const other = [{ name: 'exact', version: '1.0.1' }];
    const more = [...EXACT, { name: 'more', version: '1.2.0' }];
    assert.match(await index.refused({ npm: other }, { lock }), /^M704: .* exact 1\.0\.1 is locked as 1\.0\.0$/);
    assert.match(await index.refused({ npm: more }, { lock }), /^M704: .* more 1\.2\.0 is not locked$/);
    assert.match(await index.refused({ pip: PYEXACT }, { lock }), /^M704: .* it has exact, which the method/);
    const pip = [{ name: 'Py.Exact[all]', version: '1.1' }];
    assert.match(await index.refused({ npm: EXACT, pip }, { lock }), /^M704: .* 1\.1 is locked as 1\.0$/);
    assert.match(await index.refused({ npm: EXACT }, { lock: Buffer.from('{}') }), /^M704: .* not of the format/);
    assert.match(await index.refused({ npm: EXACT }, { lock: Buffer.from('lock') }), /^M704: .* not JSON/);
  });

  it('when the lock would accept a package without a comparison', async () => {
    const text = Buffer.from(lock).toString();
    const loose = Buffer.from(text.replace(/"integrity":"[^"]*"/, '"resolved":"https://example.com/exact.tgz"'));
    assert.match(await index.refused({ npm: EXACT }, { lock: loose }), /^M704: .* node_modules\/exact has no hash/);
    const forged = [
      '"integrity":""',
      '"integrity":"md5-1B2M2Y8AsgTpgAmY7PhCfg=="',
      '"integrity":"sha512-"',
      '"integrity":["sha512-x"]',
      '"inBundle":true',
      '"inBundle":true,"integrity":"none"',
      '"inBundle":true,"resolved":"https://example.com/exact.tgz"',
      '"link":true',
      '"integrity":"sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=","resolved":"file:../exact.tgz"',
    ];
    for (const entry of forged) {
      const bytes = Buffer.from(text.replace(/"integrity":"[^"]*"/, entry));
      assert.notDeepEqual(bytes, Buffer.from(lock));
      assert.match(
        `${entry}: ${await index.refused({ npm: EXACT }, { lock: bytes })}`,
        /: M704: .* node_modules\/exact has no hash/,
      );
    }
    for (const hashes of ['[]', '["md5:00"]', '["sha256:0"]', '[""]', 'null']) {
      const bytes = Buffer.from(text.replace(/"hashes":\[[^\]]*\]/, `"hashes":${hashes}`));
      assert.match(await index.refused({ npm: EXACT, pip: PYEXACT }, { lock: bytes }), /^M704: /, hashes);
    }
  });

  it('when a registry provides no hash to lock them by', async () => {
    const bare = [{ name: 'bare', version: '1.0.0' }];
    await index.addNpm('bare', '1.0.0', { 'index.js': '' }, {}, { hashed: false });
    assert.match(await index.refused({ npm: bare }), /^node_modules\/bare does not come from a registry and cannot be/);
    await index.addWheel('pybare', '1.0', '');
    index.hashless = '/simple/pybare/';
    const made = await index.prepare({ pip: [{ name: 'pybare', version: '1.0' }] });
    // pip has computed the hash of the file it read: later installations are compared with that one.
    assert.match(Buffer.from(made.lock ?? []).toString(), /"sha256:[0-9a-f]{64}"/);
    index.hashless = '';
  });

  it('when a registry provides another file than the locked one', async () => {
    const taken = [{ name: 'taken', version: '1.0.0' }];
    const pyTaken = [{ name: 'pytaken', version: '1.0' }];
    await index.addNpm('taken', '1.0.0', { 'index.js': '' });
    await index.addWheel('pytaken', '1.0', '');
    const npm = await index.prepare({ npm: taken });
    const pip = await index.prepare({ pip: pyTaken });
    await index.addNpm('taken', '1.0.0', { 'index.js': 'export const over = 1' });
    await index.addWheel('pytaken', '1.0', 'over = 1');
    await rm(join(index.dir, 'npm-cache'), { recursive: true });
    for (const { environment } of [npm, pip]) await rm(environment.folders[0] ?? '', { recursive: true });
    const npmLock = npm.lock ?? new Uint8Array();
    assert.match(await index.refused({ npm: taken }, { lock: npmLock }), /^M704: a package is not as .*EINTEGRITY/);
    const pipLock = pip.lock ?? new Uint8Array();
    assert.match(await index.refused({ pip: pyTaken }, { lock: pipLock }), /^M704: a package is not as/);
  });

  it('when a package or its version is missing', async () => {
    const missing = [{ name: 'missing', version: '1.0.0' }];
    assert.match(await index.refused({ npm: missing }), /^M703: missing@1\.0\.0 was not found/);
    assert.match(await index.refused({ pip: missing }), /^M703: missing==1\.0\.0 was not found/);
    assert.match(await index.refused({ npm: [{ name: 'exact', version: '9.0.0' }] }), /^M703: exact@9\.0\.0 was not/);
    assert.match(await index.refused({ pip: [{ name: 'py_exact', version: '9.0' }] }), /^M703: py_exact==9\.0 was not/);
  });

  it('when the lock was made for another platform, which the message names', async () => {
    const own = Buffer.from(lock).toString();
    assert.match(own, /"pip_platform":\{"python":"3\.\d+","system":"\w+-\w+"\}/);
    const foreign = own
      .replace(/sha256:[0-9a-f]{64}/, `sha256:${'0'.repeat(64)}`)
      .replace(/"pip_platform":\{[^}]*\}/, '"pip_platform":{"python":"3.9","system":"darwin-arm64"}');
    const both = { npm: EXACT, pip: PYEXACT };
    assert.match(
      await index.refused(both, { lock: Buffer.from(foreign) }),
      /^M704: the version's lock was made with Python 3\.9 on darwin-arm64 and its packages do not fit Python 3\.\d+ on /,
    );
    const fitting = own.replace('"system":"', '"system":"other-');
    assert.ok((await index.prepare(both, { lock: Buffer.from(fitting) })).lockSha256, 'what fits is not refused');
  });

  it('when the pip of Python is too old to lock them, though not to install them', async () => {
    const executable = join(index.dir, 'old-python');
    const script = '#!/bin/sh\ncase "$*" in *ensurepip.version*) echo 20.3.4 ;; *) exec python3 "$@" ;; esac\n';
    await writeFile(executable, script, { mode: 0o755 });
    const pythons = { get: async () => ({ executable, folders: [], version: '3.9.2' }) } as unknown as PythonRuntimes;
    const options = { pythons, cacheDir: join(index.dir, 'old') };
    assert.match(
      await index.refused({ pip: PYEXACT }, options),
      /^pip 20\.3\.4 of Python 3\.9\.2 cannot lock packages: pip 22\.2 or later is needed/,
    );
    assert.ok((await index.prepare({ npm: EXACT, pip: PYEXACT }, { ...options, lock })).environment.nodePath);
  });

  it('when npm is not on PATH', async () => {
    assert.equal(
      await index.refused({ npm: EXACT }, { path: '/nowhere' }),
      "The command npm is not on the worker's PATH",
    );
  });

  it('when a registry stays unavailable, without its credentials in the message', async () => {
    const away = (name: string) => [name, 'http://ann:hunter22@127.0.0.1:1/'] as const;
    const host = new Map([...index.host, away('npm_config_registry'), away('PIP_INDEX_URL')]);
    for (const dependencies of [{ npm: EXACT }, { pip: PYEXACT }]) {
      const message = await index.refused(dependencies, { host, clock: hasty });
      assert.match(message, /the registry could not be reached/);
      assert.ok(!message.includes('hunter22'), message);
    }
  });

  it('when their preparation is stopped', async () => {
    const stop = new AbortController();
    index.silentAbout = '/exact';
    const refused = index.refused({ npm: EXACT }, { signal: stop.signal });
    stop.abort();
    assert.match(await refused, /it was stopped/);
    index.silentAbout = '';
  });
});

describe('a registry that was briefly unavailable', () => {
  it('is asked again', async () => {
    for (const dependencies of [{ npm: EXACT }, { pip: PYEXACT }]) {
      await rm(join(index.dir, 'npm-cache'), { recursive: true, force: true });
      index.awayFor = 3;
      const again = await index.prepare(dependencies, { clock: hasty });
      assert.ok(again.lock !== null);
      assert.equal(index.awayFor, 0);
    }
  });
});
