import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@methods/logging/logger';
import { EventSender } from './event-sender.ts';
import { HeldBackEvents } from './held-back-events.ts';

function sender() {
  const heldBack = new HeldBackEvents();
  const open: (() => void)[] = [];
  const publisher = { publish: () => new Promise<void>((resolve) => open.push(resolve)) };
  return { sender: new EventSender({ publisher, heldBack, logger: silentLogger }), heldBack, open };
}

function event(run: number, bytes: number, seq = 1) {
  const runId = `run_${run}`;
  return {
    outboxId: `${runId}.${seq}`,
    orgId: 'org_a',
    runId,
    shard: 0,
    seq,
    createdAtMs: 0,
    body: Buffer.alloc(bytes),
  };
}

test('what is on its way to the bus is bounded by its bytes and by its count', async () => {
  for (const [count, bytes] of [
    [16, 1 << 20],
    [10_000, 0],
  ] as const) {
    const { sender: sending, open } = sender();
    for (let run = 0; run < count - 1; run++) sending.send(event(run, bytes));
    assert.equal(sending.isFull, false);
    sending.send(event(0, bytes, 2));
    assert.equal(sending.isFull, true);
    while (open.length > 0) {
      for (const arrive of open.splice(0)) arrive();
      await new Promise(setImmediate);
    }
    assert.equal(sending.isFull, false);
  }
});
