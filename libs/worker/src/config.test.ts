import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { readConfig } from './config.ts';

const { key, authPart } = createServiceKey();
const METHOD = 'wf_01m7y9wy1gf297de1yesqq9900';
const least = {
  METHODS_GRPC_URL: 'node-1:4700,node-2:4700',
  SERVICE_API_KEY: key,
  WORKER_METHODS: METHOD,
  WORKER_DATA_DIR: '/var/lib/worker',
};

test('sends only the auth part of its key, and treats every unknown variable as a secret', () => {
  const config = readConfig({ ...least, PATH: '/bin', API_TOKEN: 'secret value' });
  assert.equal(config.authPart, authPart);
  assert.deepEqual(config.addresses, ['node-1:4700', 'node-2:4700']);
  assert.deepEqual(config.methods, [METHOD]);
  assert.deepEqual([config.concurrency, config.drainMs, config.path], [10, 25_000, '/bin']);
  assert.equal(config.secrets.get('API_TOKEN'), 'secret value');
  assert.ok(!config.secrets.has('SERVICE_API_KEY'));
});

test('keeps environments in its data folder and runs no install scripts by default', () => {
  const plain = readConfig(least);
  assert.deepEqual([plain.cacheDir, plain.allowInstallScripts], ['/var/lib/worker/environments', false]);
  const told = readConfig({ ...least, WORKER_CACHE_DIR: '/var/cache/worker', WORKER_ALLOW_INSTALL_SCRIPTS: 'true' });
  assert.deepEqual([told.cacheDir, told.allowInstallScripts], ['/var/cache/worker', true]);
  assert.ok(!told.secrets.has('WORKER_CACHE_DIR'));
});

test('accepts addresses with and without TLS, and no other scheme', () => {
  const addresses = 'node-1:4700,https://workers.example.com,https://workers.example.com:8443/,[::1]:4700';
  assert.deepEqual(readConfig({ ...least, METHODS_GRPC_URL: addresses }).addresses, addresses.split(','));
  for (const wrong of ['http://node-1:4700', 'https://', 'https://a/b', 'grpc://a:1', 'node-1:4700,', 'node-1']) {
    assert.throws(() => readConfig({ ...least, METHODS_GRPC_URL: wrong }), /METHODS_GRPC_URL/, wrong);
  }
});

test('accepts at most as many methods as a node allows', () => {
  const methods = (count: number) => ({ ...least, WORKER_METHODS: Array(count).fill(METHOD).join(',') });
  assert.equal(readConfig(methods(1_000)).methods.length, 1_000);
  assert.throws(() => readConfig(methods(1_001)), /WORKER_METHODS/);
});

test('runs steps in a sandbox unless it is switched off', () => {
  assert.equal(readConfig(least).sandbox, true);
  assert.equal(readConfig({ ...least, WORKER_SANDBOX: 'off' }).sandbox, false);
  assert.throws(() => readConfig({ ...least, WORKER_SANDBOX: 'no' }), /WORKER_SANDBOX/);
});

test('refuses a mistyped key without printing it', () => {
  const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  assert.throws(
    () => readConfig({ ...least, SERVICE_API_KEY: mistyped }),
    (error: Error) => /SERVICE_API_KEY/.test(error.message) && !error.message.includes(authPart),
  );
});

test('reports all faults at once', () => {
  assert.throws(
    () => readConfig({ ...least, METHODS_GRPC_URL: 'no port', WORKER_CONCURRENCY: '0' }),
    (error: Error) => /METHODS_GRPC_URL/.test(error.message) && /WORKER_CONCURRENCY/.test(error.message),
  );
});
