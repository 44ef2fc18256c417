import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { ownCertificate } from '@methods/test/harness/own-certificate';
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

test('a certificate of the worker port that is not trusted is named in one warning, however often it is tried', async () => {
  const { key, certificate } = await ownCertificate(tempFolder('in-app'));
  const port = createTlsServer({ key, cert: certificate, ALPNProtocols: ['h2'] });
  port.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => port.listen(0, '127.0.0.1', resolve));
  const grpcUrl = `https://localhost:${(port.address() as AddressInfo).port}`;
  const server = createServer((_request, reply) => reply.end(JSON.stringify({ grpc_url: grpcUrl })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const reports: Report[] = [];
  const environment = { HOME: tempFolder('in-app'), PATH: '/usr/bin:/bin' };
  const worker = new InAppWorker({ report: (each) => reports.push(each), environment });
  worker.obey({ order: 'serve', methods: ['wf_x'], waiting: true });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  worker.obey({ order: 'start', server: url, bearer: 'sk_x', concurrency: 1 });
  const refused = () => reports.filter((each) => each.report === 'log' && each.message.startsWith('not connected'));
  await until('it has tried twice', () => refused().length >= 2);
  const warnings = reports.flatMap((each) => (each.report === 'warning' ? [each.message] : []));
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0] ?? '',
    /^The worker of this application refuses the certificate of https:\/\/localhost:\d+: unable to verify/,
  );
  await worker.stop();
  server.close();
  port.close();
});
