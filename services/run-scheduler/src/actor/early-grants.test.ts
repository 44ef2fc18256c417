import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ManualClock } from '../manual-clock.fixture.ts';
import { EarlyGrants } from './early-grants.ts';

const EARLY_MS = 20;

describe('runs that are granted before their commit', () => {
  let clock: ManualClock;
  let grants: EarlyGrants;
  let committed: number[];

  beforeEach(() => {
    clock = new ManualClock();
    grants = new EarlyGrants(clock);
    committed = [];
  });

  /** `isLate`: its worker has not reported by its time. */
  const add = (n: number, isLate: boolean) =>
    grants.add({
      commitNow() {
        committed.push(n);
        return isLate;
      },
    });

  test('are committed without a report after a moment, each at its own time', () => {
    add(1, true);
    clock.forward(EARLY_MS / 2);
    add(2, true);
    clock.forward(EARLY_MS / 2 - 1);
    assert.deepEqual(committed, []);
    clock.forward(1);
    assert.deepEqual(committed, [1]);
    clock.forward(EARLY_MS / 2);
    assert.deepEqual(committed, [1, 2]);
  });

  test('pause for a second once most reports were late, and begin again', () => {
    for (let n = 0; n < 16; n++) add(n, true);
    assert.equal(grants.areTimely, true);
    clock.forward(EARLY_MS);
    assert.equal(grants.areTimely, false);
    clock.forward(999);
    assert.equal(grants.areTimely, false);
    clock.forward(1);
    assert.equal(grants.areTimely, true);
  });

  test('do not pause for a late report now and then', () => {
    for (let n = 0; n < 100; n++) {
      add(n, n % 10 === 0);
      clock.forward(EARLY_MS);
    }
    assert.equal(grants.areTimely, true);
    assert.equal(committed.length, 100);
  });
});
