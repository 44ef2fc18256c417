import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { programArguments } from '@methods/test/harness/program-arguments';
import { until } from '@methods/test/harness/until';
import postgres from 'postgres';
import { startPostgres } from './postgres-server.ts';
import { StackError, type StackErrorCode } from './stack-error.ts';

const fails = (code: StackErrorCode) => (error: unknown) =>
  error instanceof StackError && error.code === code && !error.message.includes('\n');

async function ask<T>(url: string, question: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await question(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

describe('the embedded Postgres', () => {
  let folder: string;
  const options = () => ({ dataDir: join(folder, 'data'), port: 0, logFile: join(folder, 'postgres.log') });

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'methods-embedded-'));
    // Like a home folder: no one else may enter.
    chmodSync(folder, 0o700);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("is durable, on loopback, with a password in a closed file, and its id is the postmaster's", async () => {
    const server = await startPostgres(options());
    const [row] = await ask(
      server.url,
      (sql) => sql`
        select current_setting('server_version') as version, current_setting('fsync') as fsync,
          current_setting('data_checksums') as checksums, current_setting('listen_addresses') as addresses,
          current_setting('server_encoding') as encoding, current_setting('unix_socket_directories') as sockets`,
    );
    assert.deepEqual(
      { ...row, version: String(row?.version).split('.')[0] },
      { version: '18', fsync: 'on', checksums: 'on', addresses: '127.0.0.1', encoding: 'UTF8', sockets: '' },
    );
    const lock = readFileSync(join(folder, 'data', 'cluster', 'postmaster.pid'), 'utf8');
    assert.equal(Number(lock.split('\n')[0]), server.pid);
    assert.equal(statSync(join(folder, 'data', 'password')).mode & 0o777, 0o600);
    const wrong = new URL(server.url);
    wrong.password = 'guess';
    await assert.rejects(ask(wrong.href, (sql) => sql`select 1`));
    await server.stop();
    assert.deepEqual(await server.exited, { code: 0, signal: null });
  });

  test('finds its data again, after a stop and after a kill whose lock file names a living process', async () => {
    let server = await startPostgres(options());
    await ask(server.url, (sql) => sql`create table kept (id int)`);
    await server.stop('SIGKILL');
    assert.equal((await server.exited).signal, 'SIGKILL');
    const lockFile = join(folder, 'data', 'cluster', 'postmaster.pid');
    writeFileSync(lockFile, readFileSync(lockFile, 'utf8').replace(/^\d+/, String(process.pid)));
    server = await startPostgres(options());
    await ask(server.url, (sql) => sql`insert into kept values (1)`);
    await server.stop();
  });

  test('refuses a folder that another Postgres uses, and does not disturb it', async () => {
    const first = await startPostgres(options());
    await assert.rejects(startPostgres(options()), fails('folder_in_use'));
    assert.equal(await ask(first.url, async (sql) => (await sql`select 1 as one`)[0]?.one), 1);
    await first.stop();
  });

  test('refuses a taken port with one sentence', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await until('listening', () => other.listening);
    const { port } = other.address() as { port: number };
    await assert.rejects(startPostgres({ ...options(), port }), fails('port_taken'));
    other.close();
    await assert.rejects(startPostgres({ ...options(), dataDir: '/dev/null/none' }), fails('folder_unusable'));
    assert.equal(existsSync(join(folder, 'data', 'cluster', 'postmaster.pid')), false, 'nothing is left running');
  });

  test('ends when its parent is killed, and its folder stays', async () => {
    const code = new URL('./postgres-server.ts', import.meta.url);
    const script = `
      import { startPostgres } from ${JSON.stringify(code.href)};
      const server = await startPostgres(${JSON.stringify(options())});
      console.log(server.pid);
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, programArguments(script, code), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    parent.stdout.on('data', (chunk) => {
      said += chunk;
    });
    const pid = Number(await until('it runs', () => said.trim()));
    process.kill(pid, 0);
    parent.kill('SIGKILL');
    await until('the server is gone', () => !existsSync(`/proc/${pid}`));
    const again = await startPostgres(options());
    assert.ok(await ask(again.url, (sql) => sql`select * from kept`));
    await again.stop();
  });

  const root = process.getuid?.() === 0;

  test('runs as another user if root has no user namespaces, and reports where its data is', {
    skip: root ? false : 'needs root',
  }, async () => {
    const said: string[] = [];
    const dataDir = join(folder, 'as-nobody');
    const start = () =>
      startPostgres({ ...options(), dataDir, identityWay: 'nobody', say: (line) => void said.push(line) });
    let server = await start();
    const [, standIn = ''] = /data in (\S+),/.exec(said[0] ?? '') ?? [];
    try {
      assert.equal(
        statSync(`/proc/${server.pid}`).uid,
        Number(spawnSync('id', ['-u', 'nobody'], { encoding: 'utf8' }).stdout),
      );
      await ask(server.url, (sql) => sql`create table kept (id int)`);
      await server.stop();
      server = await start();
      assert.ok(await ask(server.url, (sql) => sql`select * from kept`));
      await server.stop();
      rmSync(dataDir, { recursive: true });
      server = await start();
      await assert.rejects(
        ask(server.url, (sql) => sql`select * from kept`),
        /kept/,
      );
    } finally {
      await server.stop();
      rmSync(standIn, { recursive: true });
    }
  });
});
