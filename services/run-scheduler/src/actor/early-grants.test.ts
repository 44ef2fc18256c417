import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ManualClock } from '../manual-clock.fixture.ts';
import { EarlyGrants } from './early-grants.ts';

const HOLD_MS = 100;

describe('runs that are granted before their commit', () => {
  let clock: ManualClock;
  let grants: EarlyGrants;
  let committed: number[];
  const version = 'ver_a' as const;

  beforeEach(() => {
    clock = new ManualClock();
    grants = new EarlyGrants(clock);
    committed = [];
  });

  /** `isLate`: the worker does not report in time. */
  const add = (n: number, isLate: boolean) =>
    grants.add(
      {
        commitNow() {
          committed.push(n);
          return isLate;
        },
      },
      version,
    );

  test('are committed after a moment without a report, each at its own time', () => {
    add(1, true);
    clock.forward(HOLD_MS / 2);
    add(2, true);
    clock.forward(HOLD_MS / 2 - 1);
    assert.deepEqual(committed, []);
    clock.forward(1);
    assert.deepEqual(committed, [1]);
    clock.forward(HOLD_MS / 2);
    assert.deepEqual(committed, [1, 2]);
  });

  test('leave out a version whose first report was late, twice as long each time', () => {
    for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      add(1, true);
      assert.equal(grants.isTimely(version), true);
      clock.forward(HOLD_MS);
      assert.equal(grants.isTimely(version), false);
      assert.equal(grants.isTimely('ver_b'), true);
      clock.forward(pauseMs - 1);
      assert.equal(grants.isTimely(version), false);
      clock.forward(1);
    }
  });

  test('pause once for many reports that are late at the same moment', () => {
    for (let n = 0; n < 50; n++) add(n, true);
    clock.forward(HOLD_MS);
    assert.equal(committed.length, 50);
    clock.forward(1_000);
    assert.equal(grants.isTimely(version), true);
  });

  test('pause for a second again after reports that arrived in time', () => {
    const late = () => {
      add(1, true);
      clock.forward(HOLD_MS);
    };
    for (let n = 0; n < 3; n++) {
      late();
      clock.forward(4_000);
    }
    for (let n = 0; n < 6; n++) add(n, false);
    clock.forward(HOLD_MS);
    for (let n = 0; n < 3; n++) late();
    assert.equal(grants.isTimely(version), false);
    clock.forward(1_000);
    assert.equal(grants.isTimely(version), true);
  });

  test('do not pause for an occasional late report', () => {
    for (let n = 1; n <= 100; n++) {
      add(n, n % 10 === 0);
      clock.forward(HOLD_MS);
    }
    assert.equal(grants.isTimely(version), true);
    assert.equal(committed.length, 100);
  });
});
