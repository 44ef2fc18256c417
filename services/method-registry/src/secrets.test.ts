import { equal, ok } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { newRunId } from '@methods/base/ids';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { until } from '@methods/test/harness/until';
import { newUpload, recordedMethod } from '../test/recordings.fixture.ts';
import {
  methodSource,
  newKey,
  newMethod,
  newOrganization,
  type RunningRegistry,
  startRegistry,
} from '../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await startRegistry();
});
after(() => registry.stop());

/** Returns every row of every table as text, bytes as hex. */
async function dump({ sql }: RunningRegistry): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_schema = 'registry'`;
  const texts = await Promise.all(
    tables.map(async ({ name }) => (await sql.unsafe(`select t::text as line from ${name} t`)).map((row) => row.line)),
  );
  return texts.flat().join('\n');
}

function forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '')];
}

describe('secrets at rest and in the log', () => {
  test('no table and no log holds a key, a webhook secret or the master key', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const { made, keyId, webhookSecret, authSha256 } = await newKey(client, orgId);
    await client.getWebhookSecret({ orgId, keyId });
    const { webhookSecret: renewed } = await client.renewWebhookSecret({ doer: TEST_DOER, orgId, keyId });
    await client.resolveServiceKey({ authSha256 });
    await client.createServiceKey({ doer: TEST_DOER, orgId, name: 'again', authSha256 }).catch(() => {});
    await client.revokeServiceKey({ doer: TEST_DOER, orgId, keyId });
    await client.resolveServiceKey({ authSha256 }).catch(() => {});

    const [rows, log] = [await dump(registry), registry.log()];
    ok(rows.includes(authSha256.toString('hex')), 'the dump shows what is stored');
    ok(log.includes('ResolveServiceKey'), 'the log shows what was called');
    for (const secret of [
      made.key,
      made.authPart,
      webhookSecret,
      webhookSecret.slice('whsec_'.length),
      renewed,
      renewed.slice('whsec_'.length),
      registry.secretsKey,
    ]) {
      for (const form of forms(secret)) {
        ok(!rows.includes(form), 'a table holds a secret');
        ok(!log.includes(form), 'the log holds a secret');
      }
    }
    ok(!log.includes(authSha256.toString('hex')), 'the log holds a digest of a key');
  });

  test('a sealed webhook secret moved to another key does not open, and the refusal has no details', async () => {
    const { client, sql } = registry;
    const orgId = await newOrganization(client);
    const [one, two] = [await newKey(client, orgId), await newKey(client, orgId)];
    await sql`
      update registry.service_keys set sealed_webhook_secret =
        (select sealed_webhook_secret from registry.service_keys where key_id = ${one.keyId})
      where key_id = ${two.keyId}`;
    const refusal = await client.getWebhookSecret({ orgId, keyId: two.keyId }).catch((error) => error);
    equal(refusal.code, 'internal');
    ok(!refusal.message.includes('whsec'));
  });

  test('sources, names and reasons are never logged, not even when they are refused', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const canary = `canary${randomBytes(6).toString('hex')}`;
    const { methodId, versionId } = await newMethod(client, orgId, methodSource(canary));
    const wrong = methodSource(canary).toString().replace('steps.orders', `steps.${canary}`);
    for (const source of [Buffer.from(wrong), Buffer.from(`${canary}: [`), methodSource(`${canary} two`)]) {
      await client
        .saveVersion({ doer: TEST_DOER, orgId, methodId, baseVersion: versionId, source, reason: canary })
        .catch(() => {});
    }
    const authSha256 = createServiceKey().authSha256;
    await client.createServiceKey({ doer: TEST_DOER, orgId, name: `${canary}\0`, authSha256 }).catch(() => {});
    ok((await dump(registry)).includes(canary));
    ok(!registry.log().includes(canary));
  });

  test('recordings, prompts and inspections are never logged, and a link only by its digest', async () => {
    const { client, uploads, runs } = registry;
    const orgId = await newOrganization(client);
    const canary = `canary${randomBytes(6).toString('hex')}`;
    const token = Buffer.from(`token-${canary}-${randomBytes(8).toString('hex')}`);
    const tokenSha256 = createHash('sha256').update(token).digest();
    const names = { displayName: canary, fileName: `${canary}.har`, tokenSha256 };
    for (const recording of [`{"log":{"entries":[{"${canary}":1}]}}`, `{"${canary}`]) {
      const bytes = Buffer.from(recording);
      const methodId = await recordedMethod(uploads, orgId, bytes, { ...names, tokenSha256: randomBytes(32) });
      await until('the build ends', async () => {
        const { method } = await client.getMethod({ orgId, methodId });
        ok(!method?.build?.error.includes(canary));
        return method?.status === 'failed';
      });
    }
    await newUpload(uploads, orgId, 10, names);
    await uploads.resolveUploadToken({ tokenSha256 });
    await client.createMethod({ orgId, idempotencyHash: randomBytes(32), agentPrompt: canary, doer: TEST_DOER });
    const version = await newMethod(client, orgId);
    const record = { orgId, ...version, runId: newRunId(1), sequence: 1, doer: TEST_DOER };
    await runs.putRunRecord({ ...record, inspectionJson: JSON.stringify({ canary }) });
    await runs.putRunRecord({ ...record, inspectionJson: canary }).catch(() => {});
    await client.listMethods({ orgId, search: canary });
    const rows = await dump(registry);
    ok(rows.includes(canary));
    ok(!rows.includes(token.toString('hex')));
    ok(registry.log().includes('build ended'));
    for (const secret of [canary, tokenSha256.toString('hex')]) ok(!registry.log().includes(secret));
  });
});
