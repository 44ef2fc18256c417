import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BREAK_PX, timeAxis } from './time-axis.ts';

const DAY_MS = 86_400_000;

test('a wait of days between short steps is a break of fixed width', () => {
  const busy = [
    { fromMs: 0, toMs: 1_000 },
    { fromMs: 2 * DAY_MS, toMs: 2 * DAY_MS + 1_000 },
  ];
  const axis = timeAxis({ fromMs: 0, toMs: 2 * DAY_MS + 1_000, busy, widthPx: 1_024, isScaled: false });
  assert.deepEqual(axis.breaks, [{ fromMs: 1_000, toMs: 2 * DAY_MS, px: 500 }]);
  assert.deepEqual([0, 500, 1_000, 2 * DAY_MS, 2 * DAY_MS + 1_000].map(axis.px), [0, 250, 500, 524, 1_024]);
});

test('true to scale, and where breaks would save little, nothing is left out', () => {
  const busy = [
    { fromMs: 0, toMs: 800 },
    { fromMs: 1_000, toMs: 2_000 },
  ];
  const times = { fromMs: 0, toMs: 2_000, busy, widthPx: 200 };
  assert.deepEqual(timeAxis({ ...times, isScaled: false }).breaks, []);
  const long = [{ fromMs: 0, toMs: 10 }];
  assert.deepEqual(timeAxis({ ...times, busy: long, isScaled: true }).breaks, []);
  assert.equal(timeAxis({ ...times, busy: long, isScaled: false }).breaks.length, 1);
});

test('at most twenty stretches are left out', () => {
  const busy = Array.from({ length: 26 }, (_, at) => ({ fromMs: at * 1_000, toMs: at * 1_000 + 10 }));
  const { breaks } = timeAxis({ fromMs: 0, toMs: 25_010, busy, widthPx: 1_000, isScaled: false });
  assert.equal(breaks.length, 20);
});

test('a later time is never left of an earlier one, and all are within the axis', () => {
  const span = fc.tuple(fc.nat(1e6), fc.nat(1e5)).map(([fromMs, ms]) => ({ fromMs, toMs: fromMs + ms }));
  const times = fc.array(fc.integer({ min: -100, max: 1_200_000 }), { minLength: 2, maxLength: 30 });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 60 }), times, fc.boolean(), (busy, at, isScaled) => {
      const axis = timeAxis({ fromMs: 0, toMs: 1_100_000, busy, widthPx: 900, isScaled });
      const places = at.sort((a, b) => a - b).map(axis.px);
      for (const [index, px] of places.entries()) {
        assert.ok(px >= 0 && px <= 900.001, `${px}`);
        assert.ok(index === 0 || px >= (places[index - 1] ?? 0) - 1e-6);
      }
      assert.ok(axis.breaks.every(({ fromMs, toMs }) => Math.abs(axis.px(toMs) - axis.px(fromMs) - BREAK_PX) < 1e-6));
      assert.ok(axis.ticks.length <= 41);
      assert.ok(
        axis.ticks.every(({ px }) => px === 0 || px <= 844),
        'the text of each tick has room',
      );
    }),
  );
});
