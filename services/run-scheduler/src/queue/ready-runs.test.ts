import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { runs } from '../run/run.fixture.ts';
import type { QueueEntry, QueueKey } from '../store/run-store.ts';
import { QueuedPages } from './queued-pages.fixture.ts';
import { type QueueHead, ReadyRuns } from './ready-runs.ts';

const key: QueueKey = { orgId: 'org_a', method: 'wf_a' };

function entry(queuedAtMs: number, shard = 0): QueueEntry {
  return { runId: `run_${String(queuedAtMs).padStart(6, '0')}`, queuedAtMs, shard };
}

describe('heads of queues', () => {
  let pages: QueuedPages;
  let owned: number[];
  let announced: (QueueHead | null)[];
  let ready: ReadyRuns;

  beforeEach(() => {
    pages = new QueuedPages();
    owned = [0];
    announced = [];
    ready = new ReadyRuns({
      store: pages.store,
      logger: silentLogger,
      ownedShards: () => owned,
      announce: (_key, head) => announced.push(head),
    });
  });

  async function loaded(): Promise<void> {
    ready.wanted(key);
    await until('the first page is there', () => announced.length > 0);
  }

  async function takeAll(): Promise<number[]> {
    const taken: number[] = [];
    for (let one = await ready.take(key); one !== null; one = await ready.take(key)) taken.push(one.queuedAtMs);
    return taken;
  }

  test('a queue nobody asks for is neither read nor kept', async () => {
    ready.added(key, entry(1));
    assert.equal(await ready.take(key), null);
    assert.equal(pages.pagesRead, 0);
  });

  test('what waits is announced, oldest first, and comes out in that order', async () => {
    pages.rows = [entry(3), entry(1), entry(2)];
    await loaded();
    assert.deepEqual(announced, [{ depth: 3, queuedAtMs: 1, runId: entry(1).runId }]);
    assert.deepEqual(await takeAll(), [1, 2, 3]);
  });

  test('a queue longer than a page comes out whole, in order, page by page', async () => {
    pages.rows = Array.from({ length: 1_000 }, (_, i) => entry(i));
    await loaded();
    assert.deepEqual(
      await takeAll(),
      pages.rows.map((row) => row.queuedAtMs),
    );
    assert.ok(pages.pagesRead <= 5, `${pages.pagesRead} pages`);
  });

  test('a run queued by a commit of this node takes its place by age, without a read', async () => {
    pages.rows = [entry(10), entry(30)];
    await loaded();
    ready.added(key, entry(20));
    ready.added(key, entry(5));
    assert.deepEqual(await takeAll(), [5, 10, 20, 30]);
    assert.equal(pages.pagesRead, 1);
  });

  test('a run that is in the page and told of as well comes out once', async () => {
    pages.rows = [entry(10)];
    await loaded();
    ready.added(key, entry(10));
    assert.deepEqual(await takeAll(), [10]);
  });

  test('a run queued while a page is being read is not missed', async () => {
    pages.held = true;
    ready.wanted(key);
    pages.rows = [entry(1)];
    ready.added(key, entry(1));
    pages.held = false;
    pages.asked[0]?.arrive();
    await until('the run is seen', () => announced.some((head) => head?.queuedAtMs === 1));
    assert.deepEqual(await takeAll(), [1]);
  });

  test('a run committed late, older than the page that is here, is not left out of a queue that never empties', async () => {
    pages.rows = Array.from({ length: 600 }, (_, i) => entry(10 + i));
    await loaded();
    pages.rows.push(entry(5));
    ready.added(key, entry(5));
    assert.equal((await ready.take(key))?.queuedAtMs, 5);
  });

  test('a run committed while a page is read, older than its end and not in it, is not left out', async () => {
    pages.rows = Array.from({ length: 600 }, (_, i) => entry(10 + i));
    pages.held = true;
    ready.wanted(key);
    ready.added(key, entry(11.5));
    pages.held = false;
    pages.asked[0]?.arrive();
    await until('the page is there', () => announced.length > 0);
    const taken = [await ready.take(key), await ready.take(key), await ready.take(key)];
    assert.deepEqual(
      taken.map((one) => one?.queuedAtMs),
      [10, 11, 11.5],
    );
  });

  test('where something waits is told again and again, elsewhere nothing', async () => {
    pages.rows = [entry(1)];
    await loaded();
    ready.wanted({ ...key, method: 'wf_empty' });
    await turn();
    announced.length = 0;
    pages.rows = [];
    await turn();
    announced.length = 0;
    ready.tellHeads();
    await turn();
    assert.ok(announced.length >= 1 && announced.every((head) => head?.queuedAtMs === 1));
  });

  test('only a commit that queues the run adds it', async () => {
    await loaded();
    ready.committed(null, { ...runs.fresh, stateSinceMs: 1 });
    ready.committed(runs.queued, runs.queued);
    ready.committed(runs.queued, runs.running);
    assert.equal(ready.headOf({ orgId: 'org_a', method: 'wf_a' })?.depth, 1);
  });

  test('when shards come, the runs of the new ones are found, also while a page of the old ones is under way', async () => {
    pages.rows = [entry(100, 0), entry(1, 7)];
    pages.held = true;
    ready.wanted(key);
    owned = [0, 7];
    ready.reset();
    pages.held = false;
    pages.asked[0]?.arrive();
    await until('the oldest is announced', () => announced.some((head) => head?.queuedAtMs === 1));
    assert.deepEqual(await takeAll(), [1, 100]);
  });

  test('when shards go, their runs go', async () => {
    pages.rows = [entry(1, 0), entry(2, 7)];
    owned = [0, 7];
    await loaded();
    owned = [7];
    ready.reset();
    await until('the rest is announced', () => announced.at(-1)?.queuedAtMs === 2);
    assert.deepEqual(await takeAll(), [2]);
  });

  test('a page that could not be read is read at the next look', async () => {
    pages.rows = [entry(1)];
    pages.held = true;
    ready.wanted(key);
    pages.asked[0]?.fail();
    await until('it has failed', () => announced.length > 0);
    pages.held = false;
    ready.recheckEmpty();
    await until('the run is seen', () => announced.at(-1)?.queuedAtMs === 1);
  });

  test('a run whose wake-up was lost is found by the look at empty queues', async () => {
    await loaded();
    assert.equal(ready.isEmpty(key), true);
    pages.rows = [entry(1)];
    ready.recheckEmpty();
    await until('the run is seen', () => announced.at(-1)?.queuedAtMs === 1);
    assert.equal(ready.isEmpty(key), false);
  });

  test('the look at empty queues costs one statement, and queues that are empty are not read', async () => {
    const other = { orgId: 'org_b', method: 'wf_b' };
    pages.emptyFor = ({ orgId }) => orgId === other.orgId;
    ready.wanted(other);
    await loaded();
    await until('both are read', () => pages.pagesRead === 2 && ready.isEmpty(other) && ready.isEmpty(key));
    pages.rows = [entry(1)];
    ready.recheckEmpty();
    await until('the run is seen', () => announced.at(-1)?.queuedAtMs === 1);
    assert.deepEqual([pages.looks, pages.pagesRead], [1, 3]);
  });

  test('a look at empty queues that fails is made again', async () => {
    await loaded();
    pages.rows = [entry(1)];
    pages.looksFail = true;
    ready.recheckEmpty();
    await until('it was made', () => pages.looks === 1);
    await turn();
    pages.looksFail = false;
    ready.recheckEmpty();
    await until('the run is seen', () => announced.at(-1)?.queuedAtMs === 1);
  });

  test('an emptied queue is announced as empty', async () => {
    pages.rows = [entry(1)];
    await loaded();
    await ready.take(key);
    await turn();
    assert.equal(announced.at(-1), null);
  });

  test('a queue that is no longer asked for is forgotten, and a page still under way for it with it', async () => {
    pages.rows = [entry(1)];
    pages.held = true;
    ready.wanted(key);
    ready.unwanted(key);
    ready.wanted(key);
    assert.equal(pages.asked.length, 2);
    for (const page of pages.asked) page.arrive();
    await until('it is announced', () => announced.length > 0);
    assert.equal(ready.size, 1);
    ready.unwanted(key);
    assert.equal(ready.size, 0);
  });

  test('many long queues stay within the bound of entries, and each keeps a head', async () => {
    pages.rows = Array.from({ length: 256 }, (_, i) => entry(i));
    const queues = Array.from({ length: 400 }, (_, i) => ({ orgId: 'org_a', method: `wf_${i}` }));
    for (const queue of queues) ready.wanted(queue);
    await until('all are loaded', () => queues.every((queue) => ready.headOf(queue) !== null));
    assert.ok(ready.size <= 50_000, `${ready.size} entries`);
    const [first] = queues as [QueueKey];
    const taken: number[] = [];
    for (let one = await ready.take(first); one !== null; one = await ready.take(first)) taken.push(one.queuedAtMs);
    assert.deepEqual(
      taken,
      pages.rows.map((row) => row.queuedAtMs),
    );
    assert.ok(ready.size <= 50_000, `${ready.size} entries`);
  });
});
