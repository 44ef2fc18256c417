import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { findNatsServer, startNats } from './nats-server.ts';
import { StackError, type StackErrorCode } from './stack-error.ts';

const fails = (code: StackErrorCode) => (error: unknown) =>
  error instanceof StackError && error.code === code && !error.message.includes('\n');

describe('the local nats-server', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'methods-embedded-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const options = (name: string) => ({ dataDir: join(folder, name), port: 0, logFile: join(folder, `${name}.log`) });

  test('is found on PATH first, then in the usual folders and the cache', () => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'nats-server'), '', { mode: 0o755 });
    assert.equal(findNatsServer({ PATH: `/nowhere:${bin}` }), join(bin, 'nats-server'));
    const cache = join(folder, 'cache');
    mkdirSync(join(cache, 'methods', 'nats-server'), { recursive: true });
    writeFileSync(join(cache, 'methods', 'nats-server', 'nats-server'), '', { mode: 0o755 });
    const found = findNatsServer({ PATH: '', XDG_CACHE_HOME: cache });
    assert.ok(found === '/usr/sbin/nats-server' || found === '/usr/local/bin/nats-server' || found?.startsWith(cache));
  });

  test('starts with its data on disk, stops, and starts again', async () => {
    let server = await startNats(options('data'));
    process.kill(server.pid, 0);
    await server.stop();
    await server.exited;
    assert.equal(existsSync(`/proc/${server.pid}`), false);
    server = await startNats({ ...options('data'), port: server.port });
    await server.stop('SIGKILL');
    assert.equal((await server.exited).signal, 'SIGKILL');
  });

  test('refuses a taken port and an unusable folder with one sentence', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await until('listening', () => other.listening);
    const { port } = other.address() as { port: number };
    await assert.rejects(startNats({ ...options('taken'), port }), fails('port_taken'));
    other.close();
    await assert.rejects(startNats({ ...options('x'), dataDir: '/dev/null/none' }), fails('folder_unusable'));
  });
});
