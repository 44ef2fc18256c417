import { deepEqual, equal } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseEnv, promisify } from 'node:util';
import { compileCheck } from '@methods/method/check-value';
import type { JsonSchema } from '@methods/method/json';
import { programArguments } from '@methods/test/harness/program-arguments';
import { readConfig } from '../config.ts';
import { appLanguages } from './app-packages.ts';
import { exampleInputs } from './connected-method.ts';
import { EnvFile, envValue, withEnvValue } from './env-file.ts';
import { ignoreEnvFile } from './git-ignore.ts';

const NAME = 'SERVICE_API_KEY';
const { path: PATH } = readConfig();
const run = promisify(execFile);

async function folder(t: TestContext): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'methods-connect-')));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('a key is appended, and everything else stays byte by byte', () => {
  for (const [before, after] of [
    ['', `${NAME}=sk_1\n`],
    ['A=1\n', `A=1\n${NAME}=sk_1\n`],
    ['A=1', `A=1\n${NAME}=sk_1\n`],
    ['A=1\r\nB=2', `A=1\r\nB=2\r\n${NAME}=sk_1\r\n`],
    [`# ${NAME}=old\n`, `# ${NAME}=old\n${NAME}=sk_1\n`],
    [`MY_${NAME}=x\n${NAME}_2=y\n`, `MY_${NAME}=x\n${NAME}_2=y\n${NAME}=sk_1\n`],
    [`A="first\n${NAME}=inside\nlast"\n`, `A="first\n${NAME}=inside\nlast"\n${NAME}=sk_1\n`],
    [`A='it # is'\n\n\n`, `A='it # is'\n\n\n${NAME}=sk_1\n`],
  ] as const) {
    equal(envValue(before, NAME), '', before);
    equal(withEnvValue(before, NAME, 'sk_1'), after);
    equal(parseEnv(after)[NAME], 'sk_1');
  }
});

test('the new key replaces an existing one', () => {
  for (const [before, value, after] of [
    [`${NAME}=old\nB=2\n`, 'old', `${NAME}=sk_1\nB=2\n`],
    [`${NAME}=old`, 'old', `${NAME}=sk_1`],
    [`export ${NAME}="old" # why\r\nB=2\r\n`, 'old', `export ${NAME}=sk_1 # why\r\nB=2\r\n`],
    [`${NAME}=old # why\n`, 'old', `${NAME}=sk_1 # why\n`],
    [`  ${NAME} = 'o l d'\n`, 'o l d', `  ${NAME} =sk_1\n`],
    [`${NAME}=\n`, '', `${NAME}=sk_1\n`],
    [`${NAME}=""\n`, '', `${NAME}=sk_1\n`],
    [`${NAME}=# later\n`, '', `${NAME}=sk_1 # later\n`],
    [`${NAME}=one\nA=1\n${NAME}=two\n`, 'two', `${NAME}=sk_1\nA=1\n${NAME}=sk_1\n`],
    [`\u00ef\u00bb\u00bf${NAME}=old\n`, 'old', `\u00ef\u00bb\u00bf${NAME}=sk_1\n`],
  ] as const) {
    equal(envValue(before, NAME), value, before);
    equal(withEnvValue(before, NAME, 'sk_1'), after);
  }
});

test('a new .env is only for its owner, an old one keeps its mode, its bytes and its link', async (t) => {
  const app = await folder(t);
  const env = new EnvFile(app);
  equal(await env.hasKey(), false);
  equal(await env.setKey('sk_1'), 'created');
  equal((await stat(join(app, '.env'))).mode & 0o777, 0o600);
  equal(await env.hasKey(), true);
  await rm(join(app, '.env'));
  await writeFile(join(app, 'real'), Buffer.from([0x41, 0x3d, 0xe9, 0x0a]), { mode: 0o640 });
  await symlink('real', join(app, '.env'));
  equal(await env.setKey('sk_2'), 'changed');
  deepEqual(
    await readFile(join(app, 'real')),
    Buffer.concat([Buffer.from([0x41, 0x3d, 0xe9, 0x0a]), Buffer.from(`${NAME}=sk_2\n`)]),
  );
  equal((await stat(join(app, 'real'))).mode & 0o777, 0o640);
});

test('git ignores the remains of a killed process beside a .env, and the next one removes them', async (t) => {
  const app = await folder(t);
  await run('git', ['init', '--quiet', app]);
  await writeFile(join(app, '.gitignore'), '.env\n');
  const code = new URL('./env-file.ts', import.meta.url);
  const killed = `
    import fs from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    fs.rename = async () => process.kill(process.pid, 'SIGKILL');
    syncBuiltinESMExports();
    const { EnvFile } = await import(${JSON.stringify(code.href)});
    await new EnvFile(${JSON.stringify(app)}).setKey('sk_1');
  `;
  const end = await run(process.execPath, programArguments(killed, code)).catch((error: { signal?: string }) => error);
  equal('signal' in end && end.signal, 'SIGKILL');
  const [left = '', ...others] = (await readdir(app)).filter((name) => name.startsWith('.env'));
  deepEqual(others, []);
  const { stdout } = await run('git', ['-C', app, 'status', '--porcelain', '--untracked-files=all']);
  equal(stdout, '?? .gitignore\n');
  equal((await stat(join(app, left))).mode & 0o077, 0);

  const longAgo = new Date(Date.now() - 3_600_000);
  await utimes(join(app, left), longAgo, longAgo);
  await new EnvFile(app).setKey('sk_2');
  deepEqual((await readdir(app)).sort(), ['.env', '.git', '.gitignore']);
});

test('.env is ignored once, in the nearest .gitignore of the repository', async (t) => {
  const root = await folder(t);
  const app = join(root, 'packages', 'shop');
  await mkdir(app, { recursive: true });
  await run('git', ['init', '--quiet', root], { env: { PATH } });
  await writeFile(join(root, '.gitignore'), 'node_modules\r\ndist');
  deepEqual(await ignoreEnvFile(app, PATH), { state: 'added', file: join(root, '.gitignore') });
  equal(await readFile(join(root, '.gitignore'), 'utf8'), 'node_modules\r\ndist\r\n.env\r\n');
  deepEqual(await ignoreEnvFile(app, PATH), { state: 'already' });
  await writeFile(join(app, '.gitignore'), '!.env\n');
  deepEqual(await ignoreEnvFile(app, PATH), { state: 'added', file: join(app, '.gitignore') });
  equal(await readFile(join(app, '.gitignore'), 'utf8'), '!.env\n.env\n');
  equal((await run('git', ['-C', app, 'check-ignore', '.env'], { env: { PATH } })).stdout, '.env\n');
});

test('a pattern that covers .env is enough', async (t) => {
  const root = await folder(t);
  await run('git', ['init', '--quiet', root], { env: { PATH } });
  for (const pattern of ['.env*', '*.env', '.e[mn]v', '/.env']) {
    await writeFile(join(root, '.gitignore'), `${pattern}\n`);
    deepEqual(await ignoreEnvFile(root, PATH), { state: 'already' }, pattern);
  }
});

test('a .env that git already tracks is reported', async (t) => {
  const root = await folder(t);
  await run('git', ['init', '--quiet', root], { env: { PATH } });
  await writeFile(join(root, '.env'), 'A=1\n');
  await run('git', ['-C', root, 'add', '.env'], { env: { PATH } });
  deepEqual(await ignoreEnvFile(root, PATH), { state: 'tracked', file: join(root, '.gitignore') });
  deepEqual(await ignoreEnvFile(root, PATH), { state: 'tracked', file: null });
});

test('without git, and outside of a repository, the app has its own .gitignore', async (t) => {
  const root = await folder(t);
  const app = join(root, 'shop');
  await mkdir(app);
  await writeFile(join(root, '.gitignore'), 'dist\n');
  for (const path of [PATH, join(root, 'empty')]) {
    deepEqual(await ignoreEnvFile(app, path), { state: 'added', file: join(app, '.gitignore') });
    equal(await readFile(join(app, '.gitignore'), 'utf8'), '.env\n');
    deepEqual(await ignoreEnvFile(app, join(root, 'empty')), { state: 'already' });
    await rm(join(app, '.gitignore'));
  }
});

test('the language follows from the files of package managers', async (t) => {
  for (const [file, language] of [
    ['package.json', 'node'],
    ['pyproject.toml', 'python'],
    ['requirements.txt', 'python'],
    ['setup.py', 'python'],
  ] as const) {
    const app = await folder(t);
    deepEqual(await appLanguages(app), []);
    await writeFile(join(app, file), '');
    deepEqual(await appLanguages(app), [language]);
  }
});

test('example inputs fit the schema', () => {
  const object = (properties: JsonSchema, required: readonly string[]): JsonSchema => ({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  });
  for (const schema of [
    object({}, []),
    object({ a: { type: 'string' }, b: { type: 'integer' } }, ['a']),
    object({ a: { type: 'string', minLength: 10, maxLength: 12 }, b: { type: 'string', format: 'email' } }, ['a', 'b']),
    object({ a: { type: 'number', exclusiveMinimum: 4 }, b: { type: 'integer', maximum: -3 } }, ['a', 'b']),
    object({ a: { enum: ['x', 'y'] }, b: { type: ['boolean', 'null'] } }, ['a', 'b']),
    object({ a: { type: 'array', items: { type: 'string' }, minItems: 2 } }, ['a']),
    object({ a: object({ d: { type: 'string', format: 'date-time' } }, ['d']) }, ['a']),
    object({ a: { type: 'string', pattern: '^o-\\d$', examples: ['o-1'] } }, ['a']),
    { ...object({ a: { $ref: '#/$defs/L' } }, ['a']), $defs: { L: object({ n: { type: 'integer' } }, ['n']) } },
  ]) {
    const checked = compileCheck(schema)(exampleInputs(schema));
    equal(checked.ok, true, JSON.stringify([schema, checked]));
  }
});
