import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { systemClock } from '@methods/base/clock';
import { newId, newRunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import {
  BulkAction,
  type BulkItem,
  BulkItemSchema,
  BulkItemState,
  BulkSchema,
} from '@methods/proto/scheduler/v1/bulk_service_pb';
import { until } from '@methods/test/harness/until';
import { BulkDriver, type BulkDriverOptions } from './bulk-driver.ts';

const orgId = newId('org');
const bulkId = newId('bulk');

/** A scheduler with one change of so many runs. */
function changeOf(count: number) {
  const items = Array.from({ length: count }, (_, i) =>
    create(BulkItemSchema, { runId: newRunId(0), state: BulkItemState.LEFT, position: i + 1 }),
  );
  const state = { items, taken: 0, reports: 0, idle: 0, stopped: false };
  const calls = {
    take: async ({ limit = 0 }: { limit?: number }) => {
      state.taken++;
      const todo = state.stopped ? [] : items.filter((item) => item.state === BulkItemState.LEFT);
      return { bulk: create(BulkSchema, { bulkId, action: BulkAction.CANCEL }), items: todo.slice(0, limit) };
    },
    report: async ({ items: reported = [] }: { items?: Partial<BulkItem>[] }) => {
      state.reports++;
      for (const { position = 0, state: to, reason } of reported) {
        const item = items[position - 1];
        if (item) Object.assign(item, { state: to, reason });
      }
      return {};
    },
    idle: async () => {
      state.idle++;
      return { bulks: [{ orgId, bulkId }] };
    },
  } as unknown as BulkDriverOptions['calls'];
  const count_ = (of: BulkItemState) => items.filter((item) => item.state === of).length;
  return { ...state, state, calls, count: count_ };
}

const DONE = { state: 'done', reason: '', newRunId: '' } as const;
const driverOf = (change: ReturnType<typeof changeOf>, does: BulkDriverOptions['change']) =>
  new BulkDriver({ calls: change.calls, change: does, clock: systemClock, logger: silentLogger });

test('every run is changed once, a few at a time, and refusals are reported with their code', async () => {
  const change = changeOf(150);
  const seen: number[] = [];
  let [atOnce, most] = [0, 0];
  const driver = driverOf(change, async (_org, _bulk, { position }) => {
    seen.push(position);
    most = Math.max(most, ++atOnce);
    await new Promise(setImmediate);
    atOnce--;
    if (position === 7) throw new ServiceError('run_finished');
    return DONE;
  });
  driver.begin(orgId, bulkId);
  driver.begin(orgId, bulkId);
  await until('all are done', () => change.count(BulkItemState.LEFT) === 0);
  driver.stop();
  assert.deepEqual(
    seen.toSorted((a, b) => a - b),
    Array.from({ length: 150 }, (_, i) => i + 1),
  );
  assert.deepEqual([change.items[6]?.reason, change.count(BulkItemState.FAILED)], ['run_finished', 1]);
  assert.ok(most <= 8, `${most} at once`);
});

test('what is unavailable now is left for later, and nothing is reported of it', async () => {
  const change = changeOf(3);
  const driver = driverOf(change, async (_org, _bulk, { position }) => {
    if (position === 2) throw new ServiceError('unavailable');
    return DONE;
  });
  driver.begin(orgId, bulkId);
  await until('the others are done', () => change.count(BulkItemState.DONE) >= 1 && change.state.taken >= 1);
  driver.stop();
  assert.equal(change.items[1]?.state, BulkItemState.LEFT);
  assert.equal(change.count(BulkItemState.FAILED), 0);
});

test('a driver takes over what no gateway has, and a stopped driver begins nothing', async () => {
  const change = changeOf(5);
  const driver = driverOf(change, async () => DONE);
  await driver.look();
  await until('all are done', () => change.count(BulkItemState.DONE) === 5);
  driver.stop();
  const { taken } = change.state;
  await driver.look();
  driver.begin(orgId, bulkId);
  assert.equal(change.state.taken, taken);
});
