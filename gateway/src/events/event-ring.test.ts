import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { Shares } from '@methods/base/shares';
import { EventRing } from './event-ring.ts';

function ringOf({ bytesMax = 1_000_000, keptMs = 300_000 } = {}) {
  const time = { nowMs: 0 };
  const shares = new Shares({ placesMax: bytesMax });
  const ring = new EventRing({
    clock: { ...systemClock, monotonicMs: () => time.nowMs },
    keptMs,
    hold: (bytes) => {
      const place = shares.take('org', '', bytes);
      return place.ok ? place.leave : null;
    },
  });
  return { ring, time, shares };
}

const fill = (ring: EventRing, count: number, text = '.') => {
  for (let n = 0; n < count; n++) ring.add((id) => `${id.split('-')[1]}${text}`);
};

describe('a ring of events', () => {
  test("returns what follows a reader's id, in parts, with each event whole", () => {
    const { ring } = ringOf();
    fill(ring, 12);
    assert.equal(ring.after(ring.idOf(12)), 13);
    const from = ring.after(ring.idOf(9)) ?? 0;
    assert.equal(ring.read(from, 100).bytes.toString(), '10.11.12.');
    const part = ring.read(from, 7);
    assert.deepEqual([part.bytes.toString(), part.next], ['10.11.', 12]);
    assert.equal(ring.read(from, 1).bytes.toString(), '10.');
  });

  test('rejects an id of another ring, of a future event, or of another form', () => {
    const [{ ring }, { ring: other }] = [ringOf(), ringOf()];
    for (const each of [ring, other]) fill(each, 3);
    for (const id of [
      other.idOf(2),
      ring.idOf(4),
      `${ring.id}-`,
      ring.id,
      '',
      '2',
      `${ring.idOf(2)} `,
      `${ring.id}--1`,
    ]) {
      assert.equal(ring.after(id), null, id);
    }
  });

  test('drops old events when a new one arrives, and their readers notice', () => {
    const { ring, time, shares } = ringOf({ keptMs: 100 });
    fill(ring, 1_000);
    time.nowMs = 101;
    fill(ring, 1);
    assert.deepEqual([ring.has(1_000), ring.has(1_001), ring.next], [false, true, 1_002]);
    assert.equal(ring.read(1_001, 100).bytes.toString(), '1001.');
    assert.deepEqual([ring.keptBytes, shares.used], [5, 5]);
    ring.clear();
    assert.deepEqual([ring.keptBytes, shares.used, ring.next], [0, 0, 1_002]);
  });

  test('keeps at most its bytes, the latest events, for as long as it is used', () => {
    // An existing ring may use half of the bytes, so that the next one finds room.
    const { ring, shares } = ringOf({ bytesMax: 2_000 });
    fill(ring, 5_000, '.'.repeat(46));
    assert.deepEqual([shares.used, ring.keptBytes], [1_000, 1_000]);
    assert.deepEqual([ring.has(4_980), ring.has(4_981)], [false, true]);
    assert.equal(ring.read(4_981, 50).bytes.toString(), `4981${'.'.repeat(46)}`);
  });

  test('has a gap in place of an event larger than all of it', () => {
    const { ring } = ringOf({ bytesMax: 100 });
    fill(ring, 2);
    assert.equal(
      ring.add(() => 'x'.repeat(101)),
      false,
    );
    fill(ring, 1);
    assert.deepEqual([ring.has(2), ring.has(3), ring.has(4), ring.next], [false, false, true, 5]);
    assert.equal(ring.read(4, 100).bytes.toString(), '4.');
  });
});
