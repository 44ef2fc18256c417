import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { tempFolder } from '@methods/test/harness/temp-folder';
import type { Order } from './in-app-worker.ts';

const MAIN = new URL('./main.ts', import.meta.url);

test('the worker of an application outlives signals to the group, and ends with its input', async (t) => {
  const server = createServer((_request, reply) => reply.end('{"grpc_url":"127.0.0.1:1"}'));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const env = { HOME: tempFolder('in-app'), PATH: '/usr/bin:/bin' };
  const worker = spawn(process.execPath, nodeArguments(MAIN), { env, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => worker.kill('SIGKILL'));
  const ended = once(worker, 'exit');
  const reports = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
  const send = (order: Order) => worker.stdin.write(`${JSON.stringify(order)}\n`);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  send({ order: 'start', server: url, bearer: 'sk_x', concurrency: 1 });
  await reports.next();

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) worker.kill(signal);
  send({ order: 'result', content_id: 'a', attempts: 1 });
  for (;;) {
    const { value, done } = await reports.next();
    assert.notEqual(done, true, 'it has ended');
    if (JSON.parse(value).report === 'result') break;
  }
  worker.stdin.end();
  assert.deepEqual(await ended, [0, null]);
});
