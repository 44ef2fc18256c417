import { deepEqual, equal, ok } from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { before, describe, test } from 'node:test';
import { newId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import { until } from '@methods/test/harness/until';
import {
  commonRegistry,
  methodSource,
  newMethod,
  newOrganization,
  type RunningRegistry,
} from '../../test/running-registry.fixture.ts';
import { SourceThreads } from '../method/source-threads.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await commonRegistry();
});

/** 256 KiB that take long to parse. */
const LARGE = Buffer.from(`format: method/2\nname: x\nsteps: [${'[],'.repeat(87_000)}]\n`);
const CONNECTIONS = 16;

describe('the share of an organization in checks of sources', { timeout: 300_000 }, () => {
  test('an organization that checks large sources endlessly does not delay the saves and reads of another', async () => {
    const { client } = registry;
    const [hostile, honest] = [await newOrganization(client), await newOrganization(client)];
    const { methodId, versionId } = await newMethod(client, honest);
    const end = new AbortController();
    setMaxListeners(CONNECTIONS, end.signal);
    let checked = 0;
    let refused = 0;
    const failures = new Set<string>();
    const checks = Array.from({ length: CONNECTIONS }, async () => {
      while (!end.signal.aborted) {
        try {
          await client.validateSource({ orgId: hostile, source: LARGE }, { signal: end.signal });
          checked++;
        } catch (error) {
          if (end.signal.aborted) return;
          if (!(error instanceof ServiceError) || error.code !== 'rate_limited') failures.add(String(error));
          refused++;
          // The test shares its event loop with the registry: admitted connections continue.
          return;
        }
      }
    });
    await until('the large checks go on', () => checked > 0 && refused > 0);
    const saves = 10;
    let baseVersion = versionId;
    const checkedBefore = checked;
    for (let i = 0; i < saves; i++) {
      const source = methodSource(`Edition ${i}`);
      const { version } = await client.saveVersion({ orgId: honest, methodId, baseVersion, source, doer: TEST_DOER });
      baseVersion = version?.versionId ?? 'ver_none';
      await client.getVersion({ orgId: honest, methodId });
    }
    const checkedMeanwhile = checked - checkedBefore;
    end.abort();
    await Promise.all(checks);
    deepEqual([...failures], []);
    // With first come, first served, each save would wait for the checks of all connections.
    ok(checkedMeanwhile < saves, `${checkedMeanwhile} large checks went before ${saves} saves`);
  });

  test('a refusal names the share and when to retry', async () => {
    const { client } = registry;
    const orgId = await newOrganization(client);
    const replies = await Promise.all(
      Array.from({ length: CONNECTIONS }, () =>
        client.validateSource({ orgId, source: LARGE }).then(
          ({ ok }) => String(ok),
          (error) =>
            error instanceof ServiceError ? `${error.code} ${error.facts.share} ${error.facts.limit}` : String(error),
        ),
      ),
    );
    deepEqual(new Set(replies), new Set(['false', 'rate_limited organization 8']));
  });

  test('only an inspection that takes too much memory to read is refused, with a finding', async () => {
    const poor = new SourceThreads({ heapMibMax: 48 });
    const caller = { orgId: newId('org') };
    try {
      equal((await poor.judge(methodSource('Small'), [], caller)).facts?.schemaVersion, 'method/2');
      const large = `{"log":[${'{},'.repeat(1_300_000)}0]}`;
      let refusal: unknown = null;
      // On a busy machine a thread may get too little time to find out.
      await until('it is refused for its memory', async () => {
        refusal = await poor.inspect(large, caller).catch((error: unknown) => error);
        return !(refusal instanceof ServiceError) || refusal.code !== 'unavailable';
      });
      ok(refusal instanceof ServiceError);
      deepEqual([refusal.code, refusal.findings[0]?.code], ['invalid_request', 'check_memory']);
      equal((await poor.inspect('{"status":"running"}', caller)).status, 'running');
    } finally {
      await poor.stop();
    }
  });
});
