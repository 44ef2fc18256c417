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

test('all faults are told at once, none with its value', () => {
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
