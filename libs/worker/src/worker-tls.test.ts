import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createServer } from 'node:tls';
import { createServiceKey } from '@methods/auth/service-key';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { certificateBy, type OwnCertificate, ownCertificate } from '@methods/test/harness/own-certificate';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { until } from '@methods/test/harness/until';
import { WorkerNode } from './worker-node.fixture.ts';

const MAIN = new URL('./main.ts', import.meta.url);
const METHOD = 'wf_01m7y9wy1gf297de1yesqq9900';
const FILE = `format: method/2
name: tls
steps:
  - name: first
    node: |
      return { word: 'hello' };
    out: { word: string }
result:
  word: =steps.first.word
`;

describe('a worker and a node with a certificate of a private authority', () => {
  const folder = tempFolder('worker-tls');
  const workers: ChildProcess[] = [];
  let node: WorkerNode;
  let own: OwnCertificate;

  before(async () => {
    own = await ownCertificate(folder);
    node = await WorkerNode.start({ tls: own });
  });
  after(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await node.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  /** The process's output, unchanged. */
  function startWorker(name: string, more: Record<string, string>): { said: string } {
    const env = {
      PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
      HOME: folder,
      METHODS_GRPC_URL: node.address,
      SERVICE_API_KEY: createServiceKey().key,
      WORKER_METHODS: METHOD,
      WORKER_DATA_DIR: join(folder, name),
      ...more,
    };
    const worker = spawn(process.execPath, nodeArguments(MAIN), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    workers.push(worker);
    const output = { said: '' };
    for (const stream of [worker.stdout, worker.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output.said += chunk.toString();
      });
    }
    return output;
  }

  test('connect when the worker trusts the authority, for its stream and its calls', async () => {
    const output = startWorker('trusting', { NODE_EXTRA_CA_CERTS: own.authorityFile });
    await until('it is connected', () => output.said.includes('{"ready":true}'));
    const run = node.grant({ method: METHOD, versionId: node.publish(FILE) });
    await until('the run has ended', () => run.ended);
    const end = run.recorded.at(-1);
    assert.ok(end?.case === 'finish');
    assert.deepEqual(JSON.parse(end.value.resultJson), { word: 'hello' });
  });

  test('do not connect when it trusts only others, and the node receives nothing', async () => {
    const before = node.streams.length;
    const output = startWorker('doubting', {});
    await until('it was refused twice', () => output.said.split('not connected').length > 2);
    assert.match(
      output.said,
      /"reason":"unable to verify the first certificate[^"]*","certificate":"UNABLE_TO_VERIFY_LEAF_/,
    );
    assert.equal(node.streams.length, before);
  });

  test('do not connect while the certificate has a fault, which the log names, and connect once it is renewed', async () => {
    const plain = await WorkerNode.start();
    const sockets = new Set<Socket>();
    const { key, certificate } = own;
    const front = createServer({ key, cert: certificate, ALPNProtocols: ['h2'] }, (socket) => {
      const onward = connect(Number(plain.address.split(':')[1]), '127.0.0.1');
      for (const each of [socket, onward]) {
        sockets.add(each);
        each.on('error', () => {});
      }
      socket.pipe(onward).pipe(socket);
    });
    const use = (next: Pick<OwnCertificate, 'key' | 'certificate'>) => {
      front.setSecureContext({ key: next.key, cert: next.certificate });
      for (const socket of sockets) socket.destroy();
    };
    await new Promise<void>((listening) => front.listen(0, '127.0.0.1', listening));
    const address = `https://localhost:${(front.address() as AddressInfo).port}`;
    const trust = { NODE_EXTRA_CA_CERTS: own.authorityFile, METHODS_GRPC_URL: address };
    const output = startWorker('renewed', trust);
    await until('it is connected', () => plain.streams.length === 1);
    for (const [fault, code] of [
      [await certificateBy(folder, 'expired', { days: -1 }), 'CERT_HAS_EXPIRED'],
      [await certificateBy(folder, 'other', { host: 'other.example' }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ] as const) {
      const before = output.said.length;
      use(fault);
      await until(`the log names ${code}`, () => output.said.slice(before).includes(`"certificate":"${code}"`));
    }
    use(own);
    await until('it is connected again', () => plain.streams.length === 2);
    front.close();
    for (const socket of sockets) socket.destroy();
    await plain.stop();
  });

  test('do not connect when the worker speaks plain text', async () => {
    const before = node.streams.length;
    const output = startWorker('plain', { METHODS_GRPC_URL: node.address.replace('https://', '') });
    await until('it was refused twice', () => output.said.split('not connected').length > 2);
    assert.equal(node.streams.length, before);
  });
});
