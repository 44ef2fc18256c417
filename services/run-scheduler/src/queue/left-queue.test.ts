import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { runs } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { QueuedPages } from './queued-pages.fixture.ts';
import { ReadyRuns } from './ready-runs.ts';

const key = { orgId: 'org_a' as const, method: 'wf_a' as const };

function ofKey<Of extends Run>(run: Of): Of {
  return { ...run, facts: { ...run.facts, ...key } };
}

test('the head of a queue that runs have left is looked at once, and the queue is read no further', async () => {
  const pages = new QueuedPages();
  pages.rows = Array.from({ length: 300 }, (_, n) => ({ runId: `run_${n + 1_000}` as const, queuedAtMs: n, shard: 0 }));
  const ready = new ReadyRuns({
    store: pages.store,
    logger: silentLogger,
    ownedShards: () => [0],
    announce: () => {},
  });
  ready.wanted(key);
  await until('its head is there', () => ready.headOf(key) !== null);
  await ready.recheck();
  ready.committed(ofKey(runs.waiting), ofKey(runs.running));
  await ready.recheck();
  assert.deepEqual(pages.headsRead, [1]);
  ready.committed(ofKey(runs.queued), ofKey(runs.running));
  for (let look = 0; look < 3; look++) await ready.recheck();
  assert.deepEqual([pages.headsRead, pages.pagesRead], [[1, 1], 0]);
  assert.equal(ready.headOf(key)?.queuedAtMs, 0);
});
