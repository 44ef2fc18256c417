// Starts of the local stack that cannot succeed: one clear sentence, exit code 1, and nothing left behind.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findNatsServer } from '@methods/local-stack/embedded/nats-binary';
import { testPostgres } from '../harness/postgres.ts';
import { until } from '../harness/until.ts';
import { METHODS } from './stack.ts';
import { NO_SIGN_IN, type StackFolder, StackProcess, type StackProcessOptions, stackFolder } from './stack-process.ts';
import { processesOf } from './stack-processes.ts';

/** Mounts of its own, for root and for users where the machine allows it. */
const NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount'];
/** What a start says on its way. */
const RESTARTED = / ended and was started again; /;
const STARTING = ['Starting Postgres, NATS, the services and a worker ...', 'Installing nats-server, once.'];

describe('a start of the local stack that cannot succeed', () => {
  let folder: StackFolder;
  before(() => {
    folder = stackFolder('faults');
  });
  after(() => folder.remove());

  /** The sentence it ends with; asserts all that holds for every fault. */
  async function fault(
    args: readonly string[],
    { dataDir = folder.dataDir, ...more }: Partial<StackProcessOptions> = {},
  ): Promise<string> {
    const stack = new StackProcess({ ...folder, dataDir, args: ['--json', ...args], ...more });
    assert.deepEqual(await stack.exited, { code: 1, signal: null }, stack.stderr.join('\n'));
    assert.deepEqual(stack.stdout, []);
    const said = stack.stderr.filter((line) => !STARTING.includes(line) && !RESTARTED.test(line));
    assert.equal(said.length, 1, said.join('\n'));
    await until('nothing is left running', () => processesOf(dataDir).length === 0);
    assert.deepEqual(readdirSync(folder.stateDir), [], 'no ready line is left');
    assert.equal(existsSync(join(dataDir, 'stack.lock')), false, 'the folder is free again');
    return said[0] ?? '';
  }

  test('a port that is taken', async () => {
    const other: Server = createServer().listen(0, '127.0.0.1');
    await until('listening', () => other.listening);
    const { port } = other.address() as { port: number };
    try {
      assert.equal(await fault(['--port', String(port)]), `Port ${port} is already in use.`);
    } finally {
      other.close();
    }
  });

  test('a service that ends again and again', async () => {
    const dataDir = join(folder.path, 'broken-service');
    const said = await fault(['--port', '0'], {
      dataDir,
      env: { SHARD_COUNT: '0', OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_CLIENT_ID: 'none' },
    });
    assert.equal(said, `run-scheduler-1 ended 5 times; see ${join(dataDir, 'run-scheduler-1', 'log')}.`);
  });

  test('a data folder that cannot be written', async () => {
    const file = join(folder.path, 'a-file');
    writeFileSync(file, '');
    const dataDir = join(file, 'data');
    assert.equal(await fault([], { dataDir }), `The data folder ${dataDir} cannot be written.`);
  });

  test('a folder with other files, with --reset and without', async () => {
    const home = join(folder.path, 'home');
    mkdirSync(join(home, 'photos'), { recursive: true });
    writeFileSync(join(home, 'photos', 'one'), 'kept');
    assert.equal(
      await fault(['--reset'], { dataDir: home }),
      `${home} holds other files than a stack's, so --reset does not touch it.`,
    );
    assert.equal(
      await fault([], { dataDir: home }),
      `${home} holds other files than a stack's, so it is not used; name a folder that is empty.`,
    );
    assert.deepEqual(readdirSync(home), ['photos']);
    assert.equal(readFileSync(join(home, 'photos', 'one'), 'utf8'), 'kept');
  });

  test('a folder of methods that is not there, or holds none, or a wrong one', async () => {
    const missing = join(folder.path, 'missing');
    assert.equal(
      await fault(['--port', '0', '--methods', missing]),
      `The folder of methods ${missing} cannot be read.`,
    );
    const wrong = join(folder.path, 'wrong');
    mkdirSync(wrong);
    assert.equal(await fault(['--port', '0', '--methods', wrong]), `The folder ${wrong} holds no .method file.`);
    const text = readFileSync(join(METHODS, 'greet.method'), 'utf8').replace('inputs.name', 'inputs.nmae');
    writeFileSync(join(wrong, 'greet.method'), text);
    // Found when most parts run: with as few of them as there can be.
    const database = await (await testPostgres()).freshDatabase();
    const env = { ...NO_SIGN_IN, POSTGRES_URL: database.url };
    assert.match(
      await fault(['--port', '0', '--methods', wrong], { env }),
      /\/wrong\/greet\.method:11:17 M202 no input "nmae"$/,
    );
    await database.drop();
  });

  const hidden = canHideFiles() ? false : 'this machine lets no test hide a file from a process';
  test('a NATS that can be neither found nor installed', { skip: hidden }, async () => {
    const found = findNatsServer();
    assert.ok(found, 'these tests need a nats-server');
    // Files that cannot be run, seen only by this process.
    const hide = [found, '/usr/bin/apt-get'].filter(existsSync).map((path) => `mount --bind /dev/null ${path}`);
    const wrapper = [...NAMESPACE, 'sh', '-c', `${hide.join(' && ')} && exec "$@"`, 'sh'];
    const env = { XDG_CACHE_HOME: join(folder.path, 'cache'), PATH: '/usr/bin:/bin' };
    const sentence = await fault(['--port', '0'], { wrapper, env });
    assert.match(sentence, /nats-server/);
    assert.match(sentence, /https:\/\/nats\.io\/download/);
    assert.match(sentence, /NATS_URL/);
  });
});

function canHideFiles(): boolean {
  const tried = spawnSync(NAMESPACE[0] as string, [
    ...NAMESPACE.slice(1),
    'mount',
    '--bind',
    '/dev/null',
    '/etc/hostname',
  ]);
  return tried.status === 0;
}
