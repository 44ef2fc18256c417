import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '@methods/config/environment';
import { ownCertificate } from '@methods/test/harness/own-certificate';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { readConfig } from './config.ts';

const REQUIRED = {
  LISTEN: '127.0.0.1:0',
  WORKER_LISTEN: '127.0.0.1:0',
  POSTGRES_URL: 'postgres://name:hidden@db/methods',
  NATS_URL: 'nats://bus:4222',
  METHOD_REGISTRY_URL: 'registry:7000',
};

function faults(source: Record<string, string | undefined>): string {
  try {
    readConfig(source);
    return '';
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
}

test('optional variables have their defaults', () => {
  const { postgresUrl, natsUrl, ...rest } = readConfig(REQUIRED);
  assert.equal(postgresUrl.reveal(), REQUIRED.POSTGRES_URL);
  assert.equal(natsUrl.reveal(), REQUIRED.NATS_URL);
  assert.deepEqual(rest, {
    listen: '127.0.0.1:0',
    workerListen: '127.0.0.1:0',
    workerTls: null,
    people: null,
    peerAddress: null,
    methodRegistryUrl: 'registry:7000',
    shardCount: 256,
    workerLeaseMs: 60_000,
    heartbeatMs: 15_000,
    maxAttempts: 3,
    retentionSweepMs: 3_600_000,
    faultPoint: null,
    logLevel: 'info',
  });
});

test('every missing or wrong value is reported at once, without secrets', () => {
  const message = faults({ POSTGRES_URL: 'mysql://name:hidden@db', SHARD_COUNT: '0', WORKER_LISTEN: 'no port' });
  for (const name of ['LISTEN', 'WORKER_LISTEN', 'POSTGRES_URL', 'NATS_URL', 'METHOD_REGISTRY_URL', 'SHARD_COUNT']) {
    assert.match(message, new RegExp(`^ *${name}: `, 'm'), name);
  }
  assert.doesNotMatch(message, /hidden/);
});

test('a lease shorter than two heartbeats, and an incomplete fault point, are refused', () => {
  assert.match(faults({ ...REQUIRED, WORKER_LEASE_MS: '2000', HEARTBEAT_MS: '1001' }), /^ *WORKER_LEASE_MS: /m);
  assert.equal(faults({ ...REQUIRED, WORKER_LEASE_MS: '2000', HEARTBEAT_MS: '1000' }), '');
  assert.match(faults({ ...REQUIRED, FAULT_POINT: 'claim-committed' }), /^ *FAULT_POINT: /m);
  assert.match(faults({ ...REQUIRED, FAULT_POINT: 'anywhere', FAULT_ONCE: 'file' }), /^ *FAULT_POINT: /m);
});

test('a certificate needs its own key; a refusal shows neither', async () => {
  const folder = tempFolder('tls');
  const { key, certificate } = await ownCertificate(folder);
  const files = (certificateFile: string, keyFile: string) => ({
    ...REQUIRED,
    WORKER_TLS_CERTIFICATE_FILE: join(folder, certificateFile),
    WORKER_TLS_KEY_FILE: join(folder, keyFile),
  });
  assert.deepEqual(readConfig(files('server.pem', 'server.key')).workerTls, { key, certificate });
  for (const wrong of [
    files('server.pem', 'authority.key'),
    files('server.key', 'server.pem'),
    files('no', 'server.key'),
  ]) {
    const message = faults(wrong);
    assert.match(message, /^ *WORKER_TLS_CERTIFICATE_FILE: /m);
    assert.doesNotMatch(message, /BEGIN|asn1|key values/);
  }
  assert.match(faults({ ...REQUIRED, WORKER_TLS_KEY_FILE: 'k' }), /^ *WORKER_TLS_CERTIFICATE_FILE: /m);
  rmSync(folder, { recursive: true });
});

test('people are accepted by the tokens of one issuer, for an audience, over a safe transport', () => {
  const people = { OIDC_ISSUER: 'https://login.example', MACHINE_AUDIENCE: 'https://methods.example/api' };
  assert.deepEqual(readConfig({ ...REQUIRED, ...people }).people, {
    issuer: 'https://login.example',
    machineAudience: 'https://methods.example/api',
    orgClaim: 'org_id',
    orgNameClaim: 'org_name',
    roleClaim: null,
  });
  assert.throws(() => readConfig({ ...REQUIRED, OIDC_ISSUER: people.OIDC_ISSUER }), /MACHINE_AUDIENCE: is not set/);
  assert.throws(() => readConfig({ ...REQUIRED, ...people, OIDC_ISSUER: 'http://login.example' }), /neither https/);
});
