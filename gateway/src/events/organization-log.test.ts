import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import { type LogReader, OrganizationLog } from './organization-log.ts';

const PART_BYTES = 64 * 1024;

class Reader implements LogReader {
  next = 1;
  flushes = 0;
  ended = false;
  parts: Buffer[] = [];

  constructor(private readonly log: OrganizationLog) {
    log.readers.add(this);
  }

  flush(): void {
    this.flushes++;
    while (this.next < this.log.ring.next) {
      const part = this.log.read(this.next, PART_BYTES);
      assert.ok(part);
      this.next = part.next;
      this.parts.push(part.bytes);
    }
  }

  end(): void {
    this.ended = true;
  }

  get text(): string {
    return Buffer.concat(this.parts).toString();
  }
}

describe('the log of an organization', () => {
  let delays: number[];
  let due: (() => void)[];
  let log: OrganizationLog;
  let nowMs: number;
  let eventsOf: (run: RunView) => ((id: string) => string)[] | Promise<((id: string) => string)[]>;

  beforeEach(() => {
    [delays, due, nowMs] = [[], [], 0];
    eventsOf = ({ runId }) => [() => `${runId}.`];
    const clock: Clock = {
      ...systemClock,
      monotonicMs: () => nowMs,
      after(delayMs, run) {
        delays.push(delayMs);
        due.push(run);
        return { cancel: () => {} };
      },
    };
    log = new OrganizationLog({ clock, keptMs: 1_000, hold: () => () => {}, eventsOf: (run) => eventsOf(run) });
    log.began();
  });

  const run = (n: number, revision = 1) => log.run({ runId: `run_${n}`, revision } as RunView, false);
  const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

  test('sends the events of one turn to a reader at once, and the same bytes to all readers', async () => {
    const readers = Array.from({ length: 5 }, () => new Reader(log));
    for (let n = 0; n < 100; n++) run(n);
    assert.equal(readers[0]?.flushes, 0);
    await turn();
    assert.deepEqual([...new Set(readers.map(({ flushes }) => flushes))], [1]);
    const [one, two] = readers;
    assert.ok(one && two && one.text.startsWith('run_0.run_1.'));
    assert.equal(one.parts[0], two.parts[0]);
  });

  test('serves a thousand readers a few at a turn, and no more often than it can', async () => {
    const readers = Array.from({ length: 1_000 }, () => new Reader(log));
    for (let n = 0; n < 10; n++) run(n);
    assert.deepEqual(delays, [100]);
    due.shift()?.();
    assert.equal(readers.filter(({ flushes }) => flushes > 0).length, 50);
    while (readers.some(({ flushes }) => flushes === 0)) await turn();
    assert.equal(new Set(readers.map(({ parts }) => parts[0])).size, 1);
    run(10);
    assert.deepEqual(delays, [100, 100]);
  });

  test('reports at once that events are missing, and further gaps within 5 s in one event at their end', async () => {
    const reader = new Reader(log);
    for (let n = 0; n < 100; n++) log.missed();
    await turn();
    assert.equal(reader.text.match(/event: resync/g)?.length, 1);
    assert.deepEqual(delays, [5_000]);
    nowMs += 5_000;
    due.shift()?.();
    await turn();
    assert.equal(reader.text.match(/event: resync/g)?.length, 2);
  });

  test('drops states older than the last one of their run', async () => {
    const reader = new Reader(log);
    for (const revision of [3, 2, 3, 1, 4]) run(1, revision);
    await turn();
    assert.equal(reader.text, 'run_1.run_1.');
  });

  test('holds a thousand runs whose version is being read, and reports others as missing', async () => {
    const reader = new Reader(log);
    let read = () => {};
    const version = new Promise<void>((resolve) => {
      read = resolve;
    });
    eventsOf = async ({ runId }) => {
      await version;
      return [() => `${runId}.`];
    };
    for (let n = 0; n < 1_100; n++) run(n);
    await turn();
    assert.equal(reader.text.match(/event: resync/g)?.length, 1);
    read();
    await turn();
    await turn();
    assert.equal(reader.text.match(/run_\d+\./g)?.length, 1_000);
  });

  test('ends its readers when it is closed', () => {
    const readers = [new Reader(log), new Reader(log)];
    run(1);
    log.close();
    assert.deepEqual([readers.every(({ ended }) => ended), log.ring.keptBytes], [true, 0]);
  });
});
