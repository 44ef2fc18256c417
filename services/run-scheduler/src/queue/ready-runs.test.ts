import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { runs } from '../run/run.fixture.ts';
import type { QueueEntry, QueueKey } from '../store/run-store.ts';
import { QueuedPages } from './queued-pages.fixture.ts';
import { type QueueHead, ReadyRuns } from './ready-runs.ts';

const key: QueueKey = { orgId: 'org_a' as const, method: 'wf_a' as const };

function entry(queuedAtMs: number, shard = 0): QueueEntry {
  return { runId: `run_${String(queuedAtMs).padStart(6, '0')}` as const, queuedAtMs, shard };
}

describe('heads of queues', () => {
  let pages: QueuedPages;
  let owned: number[];
  let announced: (QueueHead | null)[];
  let ready: ReadyRuns;

  beforeEach(() => {
    pages = new QueuedPages();
    owned = [0];
    const told: typeof announced = [];
    announced = told;
    ready = new ReadyRuns({
      store: pages.store,
      logger: silentLogger,
      ownedShards: () => owned,
      announce: (_key, head) => told.push(head),
    });
  });

  async function loaded(): Promise<void> {
    ready.wanted(key);
    await until('its head is there', () => ready.isEmpty(key) || ready.headOf(key) !== null);
    await turn();
  }

  /** The statement for the heads is sent at the end of a turn. */
  async function sent(statements = 1): Promise<void> {
    await until('it is sent', () => pages.asked.length === statements);
  }

  async function takeAll(from = key): Promise<number[]> {
    const taken: number[] = [];
    for (let one = await ready.take(from); one !== null; one = await ready.take(from)) taken.push(one.queuedAtMs);
    return taken;
  }

  test('a queue without workers is neither read nor kept', async () => {
    ready.added(key, entry(1));
    assert.deepEqual([await ready.take(key), pages.pagesRead], [null, 0]);
  });

  test('waiting runs are announced, oldest first, and taken in that order', async () => {
    pages.rows = [entry(3), entry(1), entry(2)];
    await loaded();
    assert.deepEqual(announced, [{ depth: 1, queuedAtMs: 1, runId: entry(1).runId }]);
    assert.deepEqual(await takeAll(), [1, 2, 3]);
  });

  test('a queue longer than a page is taken whole and in order, page by page', async () => {
    pages.rows = Array.from({ length: 1_000 }, (_, i) => entry(i));
    await loaded();
    const inOrder = pages.rows.map((row) => row.queuedAtMs);
    assert.deepEqual(await takeAll(), inOrder);
    assert.ok(pages.pagesRead <= 5, `${pages.pagesRead} pages`);
  });

  test('a run queued by a commit of this node is inserted by age, without a read', async () => {
    pages.rows = [entry(10), entry(30)];
    await loaded();
    assert.equal((await ready.take(key))?.queuedAtMs, 10);
    await until('the page is there', () => ready.headOf(key)?.queuedAtMs === 30);
    for (const queuedAtMs of [20, 5, 40]) ready.added(key, entry(queuedAtMs));
    assert.deepEqual(await takeAll(), [5, 20, 30, 40]);
    assert.equal(pages.pagesRead, 1);
  });

  test('a run that is in the page and also announced is taken once', async () => {
    pages.rows = [entry(10)];
    await loaded();
    ready.added(key, entry(10));
    assert.deepEqual(await takeAll(), [10]);
  });

  test('a run queued while a page is being read is not missed', async () => {
    pages.held = true;
    ready.wanted(key);
    await sent();
    pages.rows = [entry(1)];
    ready.added(key, entry(1));
    pages.held = false;
    pages.asked[0]?.arrive();
    await until('the run is seen', () => announced.some((head) => head?.queuedAtMs === 1));
    assert.deepEqual(await takeAll(), [1]);
  });

  test('a run committed late, older than the present page, is not omitted from a queue that never empties', async () => {
    pages.rows = Array.from({ length: 600 }, (_, i) => entry(10 + i));
    await loaded();
    pages.rows.push(entry(5));
    ready.added(key, entry(5));
    assert.equal((await ready.take(key))?.queuedAtMs, 5);
  });

  test("a run committed while a page is read, older than the page's end and not in it, is not omitted", async () => {
    pages.rows = Array.from({ length: 600 }, (_, i) => entry(10 + i));
    await loaded();
    pages.held = true;
    const first = ready.take(key);
    await sent();
    ready.added(key, entry(11.5));
    pages.held = false;
    pages.asked[0]?.arrive();
    const taken = [await first, await ready.take(key), await ready.take(key)].map((one) => one?.queuedAtMs);
    assert.deepEqual(taken, [10, 11, 11.5]);
  });

  test('queues with waiting runs are announced repeatedly, others are not', async () => {
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

  test('runs of newly taken shards are found, even while a page of the old ones is being read', async () => {
    pages.rows = [entry(100, 0), entry(1, 7)];
    pages.held = true;
    ready.wanted(key);
    await sent();
    owned = [0, 7];
    ready.reset();
    pages.held = false;
    pages.asked[0]?.arrive();
    await until('the oldest is announced', () => announced.some((head) => head?.queuedAtMs === 1));
    assert.deepEqual(await takeAll(), [1, 100]);
  });

  test('when shards are lost, their runs are removed', async () => {
    pages.rows = [entry(1, 0), entry(2, 7)];
    owned = [0, 7];
    await loaded();
    owned = [7];
    ready.reset();
    await until('the rest is announced', () => announced.at(-1)?.queuedAtMs === 2);
    assert.deepEqual(await takeAll(), [2]);
  });

  test('heads and pages that could not be read are read at the next check, for all queues', async () => {
    pages.rows = Array.from({ length: 300 }, (_, i) => entry(i));
    pages.held = true;
    const queues = Array.from({ length: 3_000 }, (_, i) => ({ orgId: 'org_a' as const, method: `wf_${i}` as const }));
    for (const queue of queues) ready.wanted(queue);
    for (let statement = 0; statement < 3; statement++) {
      await sent(statement + 1);
      pages.asked[statement]?.fail();
    }
    pages.held = false;
    await turn();
    await ready.recheck();
    const areKnown = () => queues.every((queue) => ready.headOf(queue) !== null);
    await until('all are read', areKnown);
    pages.held = true;
    const [first] = queues as unknown as [QueueKey];
    assert.equal((await ready.take(first))?.queuedAtMs, 0);
    await sent(4);
    pages.asked[3]?.fail();
    pages.held = false;
    await turn();
    assert.equal((await ready.take(first))?.queuedAtMs, 1);
  });

  test('a run whose wake-up was lost is found by the check of empty queues', async () => {
    await loaded();
    assert.equal(ready.isEmpty(key), true);
    pages.rows = [entry(1)];
    await ready.recheck();
    await until('the run is seen', () => announced.at(-1)?.queuedAtMs === 1);
    assert.equal(ready.isEmpty(key), false);
  });

  test('the check of empty queues costs one statement, and empty queues are not read', async () => {
    const other = { orgId: 'org_b' as const, method: 'wf_b' as const };
    pages.emptyFor = ({ orgId }) => orgId === other.orgId;
    ready.wanted(other);
    await loaded();
    await until('both are read', () => ready.isEmpty(other) && ready.isEmpty(key));
    pages.rows = [entry(1)];
    await ready.recheck();
    await until('the run is seen', () => announced.at(-1)?.queuedAtMs === 1);
    assert.deepEqual([pages.headsRead, pages.pagesRead], [[2, 2, 1], 0]);
  });

  test('a check of empty queues that fails is repeated', async () => {
    await loaded();
    pages.rows = [entry(1)];
    pages.held = true;
    const look = ready.recheck();
    await sent();
    pages.asked[0]?.fail();
    pages.held = false;
    await look;
    await ready.recheck();
    await until('the run is seen', () => announced.at(-1)?.queuedAtMs === 1);
  });

  test('an emptied queue is announced as empty', async () => {
    pages.rows = [entry(1)];
    await loaded();
    await ready.take(key);
    await turn();
    assert.equal(announced.at(-1), null);
  });

  test('a queue that is no longer requested is removed, and the result of its statement in flight ignored', async () => {
    pages.rows = [entry(1)];
    pages.held = true;
    ready.wanted(key);
    await sent();
    ready.unwanted(key);
    ready.wanted(key);
    pages.asked[0]?.arrive();
    await sent(2);
    assert.equal(ready.headOf(key), null);
    pages.asked[1]?.arrive();
    await until('it is announced', () => announced.length > 0);
    assert.equal(ready.size, 1);
    ready.unwanted(key);
    assert.equal(ready.size, 0);
  });

  test('the heads of a worker with a thousand methods cost few statements, one at a time, and no page', async () => {
    pages.rows = Array.from({ length: 300 }, (_, i) => entry(i));
    const queues = Array.from({ length: 16_000 }, (_, i) => ({ orgId: 'org_a' as const, method: `wf_${i}` as const }));
    for (const queue of queues) ready.wanted(queue);
    const areKnown = () => queues.every((queue) => ready.headOf(queue) !== null);
    await until('all are read', areKnown);
    assert.deepEqual([pages.headsRead.length, pages.atOnceMax, pages.pagesRead, ready.size], [16, 1, 0, 16_000]);
    pages.headsRead.length = 0;
    for (let takeOver = 0; takeOver < 4; takeOver++) ready.reset();
    await until('all are read again', () => queues.every((queue) => ready.headOf(queue) !== null));
    assert.deepEqual([pages.headsRead.length, pages.atOnceMax, pages.pagesRead], [16, 1, 0]);
  });

  test('empty queues are rechecked and heads announced a bounded number at a time, and all get their turn', async () => {
    const queues = Array.from({ length: 5_000 }, (_, i) => ({ orgId: 'org_a' as const, method: `wf_${i}` as const }));
    for (const queue of queues) ready.wanted(queue);
    await until('all are read', () => queues.every((queue) => ready.isEmpty(queue)));
    assert.deepEqual(announced, []);
    pages.headsRead.length = 0;
    for (let look = 0; look < 3; look++) await ready.recheck();
    assert.deepEqual(pages.headsRead, [2_000, 2_000, 1_000]);
    pages.rows = [entry(1)];
    for (let look = 0; look < 3; look++) await ready.recheck();
    await until('all are found', () => queues.every((queue) => ready.headOf(queue) !== null));
    await turn();
    for (const told of [2_000, 2_000, 1_000]) {
      announced.length = 0;
      ready.tellHeads();
      await turn();
      await turn();
      assert.equal(announced.length, told);
    }
  });

  test('pages are read few at a time, and an organization with many queues gives another one its turn', async () => {
    pages.rows = Array.from({ length: 300 }, (_, i) => entry(i));
    const queues = Array.from({ length: 1_000 }, (_, i) => ({ orgId: 'org_a' as const, method: `wf_${i}` as const }));
    const other = { orgId: 'org_b' as const, method: 'wf_b' as const };
    for (const queue of [...queues, other]) ready.wanted(queue);
    await until('all are read', () => [...queues, other].every((queue) => ready.headOf(queue) !== null));
    pages.held = true;
    for (const queue of [...queues, other]) void ready.take(queue);
    await sent(4);
    for (let i = 0; i < 2; i++) {
      pages.asked[i]?.arrive();
      await sent(5 + i);
    }
    assert.deepEqual(
      pages.asked.map(({ orgId }) => orgId).filter((orgId) => orgId === 'org_b'),
      ['org_b'],
    );
    assert.equal(pages.atOnceMax, 4);
    pages.held = false;
    for (const page of pages.asked) page.arrive();
  });

  test('a queue whose oldest runs all belong to other nodes is searched, and then skipped for a while', async () => {
    pages.stretchMax = 10;
    pages.rows = Array.from({ length: 95 }, (_, i) => entry(i, 9));
    await loaded();
    await until('it is looked through', () => ready.isEmpty(key));
    const { pagesRead } = pages;
    assert.ok(pagesRead >= 9 && pagesRead <= 10, `${pagesRead} pages`);
    for (let look = 0; look < 5; look++) await ready.recheck();
    await until('it is looked through once more', () => ready.isEmpty(key));
    assert.ok(pages.pagesRead <= 2 * pagesRead, `${pages.pagesRead} pages`);
    pages.rows.push(entry(96));
    ready.added(key, entry(96));
    assert.equal((await ready.take(key))?.queuedAtMs, 96);
  });

  test('only few of thousands of runs before all known entries are kept in memory, and all are taken in order', async () => {
    pages.rows = [entry(5_001)];
    await loaded();
    for (let n = 5_000; n > 0; n--) {
      pages.rows.push(entry(n));
      ready.added(key, entry(n));
      assert.ok(ready.size <= 2_048);
    }
    const inOrder = Array.from({ length: 5_001 }, (_, n) => n + 1);
    assert.deepEqual(await takeAll(), inOrder);
  });

  test('many long queues stay within the bound of entries, and each keeps a head', async () => {
    pages.rows = Array.from({ length: 256 }, (_, i) => entry(i));
    const queues = Array.from({ length: 400 }, (_, i) => ({ orgId: 'org_a' as const, method: `wf_${i}` as const }));
    for (const queue of queues) ready.wanted(queue);
    const areKnown = () => queues.every((queue) => ready.headOf(queue) !== null);
    await until('all are read', areKnown);
    for (const queue of queues) assert.equal((await ready.take(queue))?.queuedAtMs, 0);
    await until('all have a page', () => pages.pagesRead === 400 && areKnown());
    assert.ok(ready.size > 40_000 && ready.size <= 50_000, `${ready.size} entries`);
    const rest = pages.rows.slice(1).map((row) => row.queuedAtMs);
    assert.deepEqual(await takeAll(queues[0]), rest);
    assert.ok(ready.size <= 50_000, `${ready.size} entries`);
  });
});
