import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TimerHeap } from './timer-heap.ts';

test('removes due times in order and keeps the rest', () => {
  const heap = new TimerHeap<string>();
  heap.push(30, 'c');
  heap.push(10, 'a');
  heap.push(20, 'b');
  assert.equal(heap.nextAtMs, 10);
  assert.deepEqual(heap.popDue(9, 100), []);
  assert.deepEqual(heap.popDue(20, 100), ['a', 'b']);
  assert.equal(heap.nextAtMs, 30);
  assert.equal(heap.size, 1);
});

test('an empty heap has no next time, and a cleared one is empty', () => {
  const heap = new TimerHeap<string>();
  assert.equal(heap.nextAtMs, null);
  heap.push(1, 'a');
  heap.clear();
  assert.equal(heap.nextAtMs, null);
  assert.deepEqual(heap.popDue(2, 100), []);
});

test('pushes and pops in any order give the same result as sorting', () => {
  const push = fc.record({ pushAtMs: fc.nat({ max: 50 }) });
  const pop = fc.record({ popAtMs: fc.nat({ max: 50 }) });
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 3, arbitrary: push }, pop)), (operations) => {
      const heap = new TimerHeap<number>();
      let model: number[] = [];
      for (const operation of operations) {
        if ('pushAtMs' in operation) {
          heap.push(operation.pushAtMs, operation.pushAtMs);
          model = [...model, operation.pushAtMs].sort((a, b) => a - b);
        } else {
          assert.deepEqual(
            heap.popDue(operation.popAtMs, 100),
            model.filter((atMs) => atMs <= operation.popAtMs),
          );
          model = model.filter((atMs) => atMs > operation.popAtMs);
        }
        assert.equal(heap.size, model.length);
        assert.equal(heap.nextAtMs, model[0] ?? null);
      }
    }),
  );
});
