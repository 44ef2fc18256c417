import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { type OwnCertificate, ownCertificate } from '@methods/test/harness/own-certificate';
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
    assert.equal(node.streams.length, before);
  });

  test('do not connect when the worker speaks plain text', async () => {
    const before = node.streams.length;
    const output = startWorker('plain', { METHODS_GRPC_URL: node.address.replace('https://', '') });
    await until('it was refused twice', () => output.said.split('not connected').length > 2);
    assert.equal(node.streams.length, before);
  });
});
