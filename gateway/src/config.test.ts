import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './config.ts';

const REQUIRED = {
  LISTEN: '127.0.0.1:0',
  METHOD_REGISTRY_URL: 'registry:7001',
  RUN_SCHEDULER_URLS: 'one:7002,two:7002,one:7002',
};

test('what is not set has its default', () => {
  assert.deepEqual(readConfig(REQUIRED), {
    listen: { host: '127.0.0.1', port: 0 },
    publicUrl: null,
    grpcPublicUrl: null,
    methodRegistryAddress: 'registry:7001',
    runSchedulerAddresses: ['one:7002', 'two:7002'],
    natsUrl: null,
    rateLimitPerKey: 200,
    webhooks: { allowPrivate: false, ports: [] },
    logLevel: 'info',
    trustProxy: null,
  });
});

test('every variable is read', () => {
  const config = readConfig({
    ...REQUIRED,
    LISTEN: '[::1]:8080',
    RATE_LIMIT_PER_KEY: '0',
    WEBHOOK_PORTS: '8443,9443',
    ALLOW_PRIVATE_WEBHOOKS: '1',
    NATS_URL: 'nats://nats:4222',
    TRUST_PROXY: '10.0.0.0/8',
  });
  assert.deepEqual(config.listen, { host: '::1', port: 8080 });
  assert.equal(config.rateLimitPerKey, 0);
  assert.deepEqual(config.webhooks, { allowPrivate: true, ports: [8443, 9443] });
  assert.equal(config.natsUrl?.reveal(), 'nats://nats:4222');
  assert.equal(config.trustProxy, '10.0.0.0/8');
});

test('all faults are told at once', () => {
  const read = () => readConfig({ LISTEN: 'nowhere', RUN_SCHEDULER_URLS: 'one', RATE_LIMIT_PER_KEY: 'many' });
  assert.throws(read, (error: Error) => {
    for (const name of ['LISTEN', 'METHOD_REGISTRY_URL', 'RUN_SCHEDULER_URLS', 'RATE_LIMIT_PER_KEY']) {
      assert.match(error.message, new RegExp(name));
    }
    return true;
  });
});
