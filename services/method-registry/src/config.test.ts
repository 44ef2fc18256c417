import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { ConfigError } from '@methods/config/environment';
import { readConfig } from './config.ts';

const complete = {
  LISTEN: '127.0.0.1:0',
  POSTGRES_URL: 'postgres://registry:hunter2@127.0.0.1/registry',
  NATS_URL: 'nats://127.0.0.1:4222',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
};

test('a complete environment is read; the log level has a default', () => {
  const config = readConfig(complete);
  equal(config.listen, '127.0.0.1:0');
  equal(config.logLevel, 'info');
  equal(Buffer.from(config.secretsKey.reveal(), 'base64').length, 32);
  ok(!inspect(config).includes('hunter2'));
});

test('all faults are reported at once, none with its value', () => {
  const faulty = { LISTEN: 'here', POSTGRES_URL: 'mysql://hunter2', SECRETS_KEY: Buffer.alloc(31).toString('base64') };
  throws(
    () => readConfig(faulty),
    (error: unknown) => {
      ok(error instanceof ConfigError);
      deepEqual(
        error.faults.map((fault) => fault.split(':')[0]),
        ['LISTEN', 'NATS_URL', 'POSTGRES_URL', 'SECRETS_KEY'],
      );
      ok(!error.message.includes('hunter2'));
      return true;
    },
  );
});

test('recordings are stored in Postgres unless S3 is configured; an incomplete configuration is a fault that names the missing values', () => {
  equal(readConfig(complete).blobs.kind, 'postgres');
  const s3 = {
    S3_ENDPOINT: 'https://s3.example',
    S3_BUCKET: 'recordings',
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'hunter2',
  };
  const { blobs } = readConfig({ ...complete, ...s3 });
  ok(blobs.kind === 's3');
  deepEqual([blobs.endpoint, blobs.region, blobs.bucket], ['https://s3.example', 'us-east-1', 'recordings']);
  equal(blobs.secretAccessKey.reveal(), 'hunter2');
  ok(!inspect(blobs).includes('hunter2'));
  throws(
    () => readConfig({ ...complete, S3_BUCKET: 'recordings', S3_SECRET_ACCESS_KEY: 'hunter2' }),
    (error: unknown) => {
      ok(error instanceof ConfigError);
      deepEqual(
        error.faults.map((fault) => fault.split(':')[0]),
        ['S3_ACCESS_KEY_ID', 'S3_ENDPOINT'],
      );
      ok(!error.message.includes('hunter2'));
      return true;
    },
  );
});
