import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from './fair-queue.ts';

const job = (orgId: string, name: string, isLarge = false) => ({ orgId, name, isLarge, bytes: 1 });
const anyone = () => true;

test('organizations take turns, for any number of waiting jobs', () => {
  const queue = new FairQueue<ReturnType<typeof job>>({ small: 100, large: 100, all: 1_000, allBytes: 1_000 });
  for (let i = 0; i < 50; i++) queue.add(job('a', `a${i}`));
  queue.add(job('b', 'b0'));
  queue.add(job('c', 'c0'));
  queue.add(job('b', 'b1'));
  const order = Array.from({ length: 6 }, () => queue.take(anyone, { large: false })?.name);
  deepEqual(order, ['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
  equal(queue.length, 47);
});

test('large jobs come only where they may, and first there', () => {
  const queue = new FairQueue<ReturnType<typeof job>>({ small: 9, large: 9, all: 99, allBytes: 99 });
  queue.add(job('a', 'small'));
  queue.add(job('a', 'large', true));
  queue.add(job('b', 'small of b'));
  equal(queue.take(anyone, { large: true })?.name, 'large');
  equal(queue.take((orgId) => orgId !== 'a', { large: false })?.name, 'small of b');
  equal(
    queue.take((orgId) => orgId !== 'a', { large: true }),
    null,
  );
  equal(queue.take(anyone, { large: false })?.name, 'small');
  equal(queue.take(anyone, { large: true }), null);
});

test('beyond its share an organization is refused, and beyond the bound of all every organization is', () => {
  const queue = new FairQueue<ReturnType<typeof job>>({ small: 2, large: 1, all: 4, allBytes: 99 });
  const admissions = ['a', 'a', 'a', 'b'].map((orgId) => queue.add(job(orgId, '')));
  deepEqual(admissions, ['waits', 'waits', 'share', 'waits']);
  deepEqual([queue.add(job('a', '', true)), queue.add(job('a', '', true))], ['waits', 'share']);
  equal(queue.add(job('c', '')), 'full');
  const byBytes = new FairQueue<ReturnType<typeof job>>({ small: 9, large: 9, all: 9, allBytes: 2 });
  deepEqual(
    ['a', 'b', 'c'].map((orgId) => byBytes.add(job(orgId, ''))),
    ['waits', 'waits', 'full'],
  );
});

test('a job that left is not taken, and returns its place', () => {
  const queue = new FairQueue<ReturnType<typeof job>>({ small: 1, large: 1, all: 9, allBytes: 9 });
  const left = job('a', 'left');
  queue.add(left);
  equal(queue.remove(left), true);
  equal(queue.remove(left), false);
  equal(queue.add(job('a', 'next')), 'waits');
  equal(queue.take(anyone, { large: true })?.name, 'next');
  equal(queue.length, 0);
});
