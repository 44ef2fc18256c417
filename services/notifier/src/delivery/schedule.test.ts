import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { afterTry, DEFAULT_RETRY_MS, MAIL_RETRY_MS } from './schedule.ts';

const half = () => 0.5;
const first = { tries: 0, resentFrom: null };

test('any 2xx is a delivery', () => {
  for (const status of [200, 201, 204, 299])
    assert.equal(afterTry(first, status, DEFAULT_RETRY_MS, half).status, 'delivered');
});

test('410 stops the delivery permanently', () => {
  assert.deepEqual(afterTry(first, 410, DEFAULT_RETRY_MS, half), { status: 'stopped', waitMs: 0 });
});

test('everything else is tried again: no answer, redirects, errors of either side', () => {
  for (const status of [0, 199, 300, 301, 307, 400, 404, 429, 500, 503]) {
    assert.equal(afterTry(first, status, DEFAULT_RETRY_MS, half).status, 'pending', String(status));
  }
});

test('five redeliveries with growing waits, then the delivery is exhausted', () => {
  const waits = [0, 1, 2, 3, 4, 5].map((tries) => afterTry({ tries, resentFrom: null }, 500, DEFAULT_RETRY_MS, half));
  assert.deepEqual(
    waits.map((after) => after.waitMs),
    [5_000, 30_000, 300_000, 1_800_000, 10_800_000, 0],
  );
  assert.deepEqual(
    waits.map((after) => after.status),
    ['pending', 'pending', 'pending', 'pending', 'pending', 'exhausted'],
  );
});

test('a delivery sent again by hand gets one try and falls back to its earlier end', () => {
  for (const resentFrom of ['delivered', 'exhausted', 'stopped'] as const) {
    assert.equal(afterTry({ tries: 1, resentFrom }, 500, DEFAULT_RETRY_MS, half).status, resentFrom);
    assert.equal(afterTry({ tries: 6, resentFrom }, 200, DEFAULT_RETRY_MS, half).status, 'delivered');
  }
});

test('waits vary by at most a tenth, and no delivery makes more than one and five tries', () => {
  fc.assert(
    fc.property(
      fc.nat(20),
      fc.integer({ min: 0, max: 599 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (tries, status, luck) => {
        const after = afterTry({ tries, resentFrom: null }, status, DEFAULT_RETRY_MS, () => luck);
        const wait = DEFAULT_RETRY_MS[tries];
        if (after.status === 'pending') {
          assert.ok(wait !== undefined && after.waitMs >= wait * 0.9 - 1 && after.waitMs <= wait * 1.1 + 1);
        } else {
          assert.equal(after.waitMs, 0);
        }
      },
    ),
  );
});

test('a mail whose server is down for a day is sent afterwards, even with the shortest waits', () => {
  for (const chance of [0, 0.5, 1]) {
    let atMs = 0;
    let tries = 0;
    for (;;) {
      const reply = atMs < 24 * 3_600_000 ? 0 : 250;
      const { status, waitMs } = afterTry({ tries, resentFrom: null }, reply, MAIL_RETRY_MS, () => chance);
      if (status !== 'pending') {
        assert.equal(status, 'delivered');
        break;
      }
      atMs += waitMs;
      tries++;
    }
    assert.ok(tries <= MAIL_RETRY_MS.length);
  }
});
