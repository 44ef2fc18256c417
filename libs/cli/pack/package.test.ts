import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PackedCli } from '@methods/test/harness/packed-cli';
import { COMMANDS } from '../src/commands.ts';

let packed: PackedCli;
before(async () => {
  packed = await PackedCli.install();
});
after(() => packed?.remove());

test('the package holds the built command and needs nothing of the workspace', async () => {
  const names = await readdir(packed.packageDir, { recursive: true });
  assert.deepEqual(
    names.filter((name) => /\.ts$|__pycache__|\.test\./.test(name)),
    [],
  );
  assert.ok(names.includes('dist/LICENSE'));
  assert.deepEqual(
    Object.keys(packed.manifest.dependencies).filter((name) => name.startsWith('@methods/')),
    [],
  );
  for (const name of names.filter((each) => each.endsWith('.js'))) {
    const text = await readFile(join(packed.packageDir, name), 'utf8');
    // `connect` prints an import of the client library, which an application has.
    assert.ok(!/\b(?:from|import)\s*\(?\s*["']@methods\/(?!client["'])/.test(text), name);
  }
});

test('every command can be loaded', async () => {
  const { code, stdout } = await packed.methods('--help');
  assert.equal(code, 0);
  for (const { name } of COMMANDS) assert.match(stdout, new RegExp(`^ {2}${name} `, 'm'));
  const script = await packed.methods('completion', 'bash');
  assert.deepEqual([script.code, script.stderr], [0, '']);
  const folder = join(packed.packageDir, 'dist/lib/methods');
  const pieces = (await readdir(folder)).filter((name) => /-commands?-.*\.js$/.test(name));
  const commands: string[] = [];
  for (const piece of pieces) {
    const exports: object = await import(join(folder, piece));
    commands.push(...Object.keys(exports).filter((name) => name.endsWith('Command')));
  }
  assert.equal(commands.length, COMMANDS.length, commands.join());
});

test('the help is printed without the command, and is what the command prints', async () => {
  assert.deepEqual(await packed.methods('--help'), await packed.methods('help'));
  assert.deepEqual(await packed.methods('-h'), await packed.methods('help'));
  assert.deepEqual(await loadedBy('--help'), []);
  assert.ok((await loadedBy('help')).length > 0);
});

test('help and completion load neither the code that checks a method nor the code that runs one', async () => {
  const HEAVY = /\bfunction (?:compileMethod|compileCheck|startExecutorParts)\(/;
  const heavy = async (...words: readonly string[]) =>
    (await loadedBy(...words)).filter((text) => HEAVY.test(text)).length;
  for (const { name } of COMMANDS) assert.equal(await heavy(name, '--help'), 0, name);
  assert.equal(await heavy('completion', 'bash'), 0);
  assert.ok((await heavy('run', 'none.method')) > 0);
});

test('a method is written, checked, tested and run in an empty folder', async () => {
  assert.equal((await packed.methods('new', 'greet', '--kind', 'node')).code, 0);
  assert.deepEqual(await packed.methods('check', 'greet.method'), {
    code: 0,
    stdout: 'greet.method: ok\n',
    stderr: '',
  });
  const tested = await packed.methods('test', 'greet.method');
  assert.deepEqual([tested.code, tested.stderr], [0, '']);
  const { code, stdout, stderr } = await packed.methods('run', 'greet.method', '--json');
  assert.deepEqual([code, stderr], [0, '']);
  const { status, result } = JSON.parse(stdout) as { status: string; result: object };
  assert.deepEqual([status, result], ['succeeded', { greeting: 'Hello world' }]);
});

test('commands that need a checkout say so, and a fault of the command line ends with 2', async () => {
  const dev = await packed.methods('dev');
  assert.equal(dev.code, 1);
  assert.match(dev.stderr, /^error: .*checkout/);
  assert.equal((await packed.methods('chekc')).code, 2);
});

/** Returns the texts of the package's files that a call of the command loads. */
async function loadedBy(...words: readonly string[]): Promise<string[]> {
  const folder = await mkdtemp(join(packed.dir, 'loaded-'));
  await packed.methodsWith({ NODE_V8_COVERAGE: folder }, ...words);
  const urls: string[] = [];
  for (const name of await readdir(folder)) {
    const report = JSON.parse(await readFile(join(folder, name), 'utf8')) as { result: readonly { url: string }[] };
    urls.push(...report.result.map(({ url }) => url).filter((url) => url.includes('/dist/lib/methods/')));
  }
  await rm(folder, { recursive: true });
  return Promise.all(urls.map((url) => readFile(fileURLToPath(url), 'utf8')));
}
