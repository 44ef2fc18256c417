import 'reflect-metadata/lite';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { sealedWebhookSecrets } from '../key/service-key.ts';
import type { KeyStore } from './key-store.ts';
import { registryDatabase } from './registry-database.ts';
import { SecretsKeyCheck } from './secrets-key-check.ts';

test('waits for a Postgres that becomes unavailable between the migrations and the check', async () => {
  const database = registryDatabase('postgres://127.0.0.1:1/none', silentLogger);
  let looks = 0;
  const keys: Partial<KeyStore> = {
    async sampleWebhookSecret() {
      if (++looks < 3) throw new ServiceError('unavailable');
      return null;
    },
  };
  const check = new SecretsKeyCheck(database, keys as KeyStore, sealedWebhookSecrets(randomBytes(32)));
  await check.start();
  assert.equal(looks, 3);
  await database.stop();
});
