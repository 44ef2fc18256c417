import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { until } from '@methods/test/harness/until';
import { InAppWorker, type Report } from './in-app-worker.ts';

test('a worker port that cannot be reached is named in one warning', async () => {
  const server = createServer((_request, reply) => reply.end('{"grpc_url":"127.0.0.1:1"}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const reports: Report[] = [];
  const environment = { HOME: tempFolder('in-app'), PATH: '/usr/bin:/bin' };
  const worker = new InAppWorker({ report: (each) => reports.push(each), environment, warningMs: 500 });
  worker.obey({ order: 'serve', methods: ['wf_x'], waiting: true });
  worker.obey({ order: 'start', server: url, bearer: 'sk_x', concurrency: 1 });
  const warning = await until('it warns', () => reports.find(({ report }) => report === 'warning'));
  assert.ok(warning.report === 'warning' && warning.message.startsWith(`The worker port 127.0.0.1:1 of ${url} cannot`));
  await worker.stop();
  assert.equal(reports.filter(({ report }) => report === 'warning').length, 1);
  assert.equal(reports.at(-1)?.report, 'stopped');
  server.close();
});
