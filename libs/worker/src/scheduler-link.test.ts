import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { silentLogger } from '@methods/logging/logger';
import { until } from '@methods/test/harness/until';
import { SchedulerLink } from './scheduler-link.ts';
import { WorkerNode } from './worker-node.fixture.ts';

let node: WorkerNode;
beforeEach(async () => {
  node = await WorkerNode.start();
});
afterEach(() => node.stop());

/** A link whose waits end when the test advances them. */
class HeldLink {
  readonly waitsMs: number[] = [];
  private over: (() => void)[] = [];
  readonly link: SchedulerLink;

  constructor(addresses: readonly string[], renewed?: () => Promise<string>) {
    const hello = (streamNumber: number) => ({
      item: { case: 'hello' as const, value: { workerId: 'w', streamNumber, methods: ['wf_a' as const], slots: 1 } },
    });
    this.link = new SchedulerLink({
      addresses,
      authorization: 'Bearer sk_test',
      renewed,
      clock: {
        ...systemClock,
        after: (delayMs, run) => {
          this.waitsMs.push(delayMs);
          this.over.push(run);
          return { cancel: () => {} };
        },
      },
      logger: silentLogger,
      hello,
      onItems: () => {},
      onDown: () => {},
    });
  }

  endPauses(): void {
    for (const run of this.over.splice(0)) run();
  }

  /** The pauses before the next `count` dials. */
  async pauses(count: number): Promise<number[]> {
    const from = this.waitsMs.length;
    for (let i = from; i < from + count; i++) {
      await until('the link waits', () => this.waitsMs.length > i);
      this.endPauses();
    }
    return this.waitsMs.slice(from, from + count);
  }
}

const NOBODY = '127.0.0.1:1';
const CREDIT = { item: { case: 'credits' as const, value: { count: 1 } } };

describe('the link to the run-scheduler', () => {
  it('dials again after growing waits, up to 5 s', async () => {
    const held = new HeldLink([NOBODY]);
    held.link.start();
    const waits = await held.pauses(9);
    held.link.stop();
    for (const [i, wait] of waits.entries()) {
      const middle = Math.min(5_000, 100 * 2 ** i);
      assert.ok(wait >= middle / 2 && wait <= middle * 1.5, `wait ${i} was ${wait} ms`);
    }
  });

  it('continues with the next address', async () => {
    const held = new HeldLink([NOBODY, NOBODY, node.address]);
    held.link.start();
    await until('the link is welcomed', () => {
      held.endPauses();
      return node.streams[0]?.welcomed;
    });
    held.link.stop();
  });

  it('resets its waits after a welcome', async () => {
    const held = new HeldLink([node.address]);
    held.link.start();
    for (let i = 0; i < 6; i++) {
      await until('the link is welcomed', () => node.streams.length === i + 1 && held.link.send(CREDIT));
      node.stream.cut();
      await held.pauses(1);
    }
    held.link.stop();
    assert.ok(
      held.waitsMs.every((wait) => wait <= 150),
      String(held.waitsMs),
    );
  });

  it('keeps growing its waits for a node that accepts streams and ends them', async () => {
    node.welcomes = false;
    const held = new HeldLink([node.address]);
    held.link.start();
    for (let i = 0; i < 6; i++) {
      await until('the worker says hello', () => node.streams.length === i + 1 && node.stream.hello);
      node.stream.cut();
      await held.pauses(1);
    }
    held.link.stop();
    assert.ok((held.waitsMs[5] ?? 0) >= 1_600, `the sixth wait was ${held.waitsMs[5]} ms`);
  });

  it('moves to its next authorization before the present one ends', async () => {
    let present = 'Bearer sk_test';
    const held = new HeldLink([node.address], async () => present);
    held.link.start();
    await until('the link is welcomed', () => node.streams[0]?.welcomed && held.link.send(CREDIT));
    held.endPauses();
    await until('it asks again later', () => held.waitsMs.length === 2);
    assert.equal(node.streams.length, 1, 'an unchanged authorization keeps its stream');
    present = 'Bearer next';
    await until('the link is welcomed with the next one', () => {
      held.endPauses();
      return node.streams[1]?.welcomed;
    });
    held.link.stop();
    assert.deepEqual([node.streams[1]?.authorization, held.link.authorization], ['Bearer next', 'Bearer next']);
  });

  it('dials with the present authorization after a node ended its stream', async () => {
    const held = new HeldLink([node.address], async () => 'Bearer next');
    held.link.start();
    await until('the link is welcomed', () => node.streams[0]?.welcomed);
    node.stream.cut();
    await until('the link is welcomed again', () => {
      held.endPauses();
      return node.streams[1]?.welcomed;
    });
    held.link.stop();
    assert.equal(node.streams.at(-1)?.authorization, 'Bearer next');
  });

  it('sends nothing before the welcome', async () => {
    node.welcomes = false;
    const held = new HeldLink([node.address]);
    held.link.start();
    await until('the worker says hello', () => node.streams[0]?.hello);
    assert.equal(held.link.send(CREDIT), false);
    node.welcomeNow();
    await until('the link sends', () => held.link.send(CREDIT));
    await until('it has arrived', () => node.stream.free > 0);
    held.link.stop();
    await until('the stream has ended', () => !node.stream.open);
    assert.equal(held.link.send(CREDIT), false);
  });
});
