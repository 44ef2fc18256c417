import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { authSha256, createServiceKey, parseBearerKey } from './service-key.ts';

// The pattern that secret scanners look for.
const SCANNED = /^sk_[0-9A-Za-z]{43}_[0-9A-Za-z]{49}$/;

// Computed by an independent implementation.
const AUTH_PART = `sk_${'A'.repeat(43)}`;
const CONTENT_PART = 'b'.repeat(43);
const WHOLE = `${AUTH_PART}_${CONTENT_PART}0wDHnF`;
const AUTH_SHA256 = '12576e7a680e2c3225b7d080cd3e1484262cfd95d5596652e4649a8325ac8ea8';

describe('a new service key', () => {
  test('has the form that secret scanners know', () => {
    for (let i = 0; i < 200; i++) match(createServiceKey().key, SCANNED);
  });

  test('begins with its auth part and is read back as its parts', () => {
    const { key, authPart, authSha256: hash } = createServiceKey();
    equal(key.slice(0, 46), authPart);
    deepEqual(parseBearerKey(key), { authPart, contentPart: key.slice(47, 90) });
    deepEqual(hash, authSha256(authPart));
  });

  test('is never the same twice, in either part', () => {
    const keys = Array.from({ length: 100 }, createServiceKey);
    equal(new Set(keys.map(({ authPart }) => authPart)).size, 100);
    equal(new Set(keys.map(({ key }) => key.slice(47, 90))).size, 100);
  });
});

describe('a key that is sent', () => {
  test('is accepted whole, with a checksum that others compute alike', () => {
    deepEqual(parseBearerKey(WHOLE), { authPart: AUTH_PART, contentPart: CONTENT_PART });
  });

  test('is accepted as only its auth part, and then has no content part', () => {
    deepEqual(parseBearerKey(AUTH_PART), { authPart: AUTH_PART });
  });

  test('is identified by the SHA-256 of its auth part, in either form', () => {
    for (const text of [WHOLE, AUTH_PART]) {
      equal(authSha256(parseBearerKey(text)?.authPart ?? '').toString('hex'), AUTH_SHA256);
    }
    notEqual(authSha256(WHOLE).toString('hex'), AUTH_SHA256);
  });

  test('is refused when one character of it is mistyped', () => {
    const { key } = createServiceKey();
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.constantFrom(...'0Az_ -'), (at, character) => {
        fc.pre(key[at] !== character);
        equal(parseBearerKey(key.slice(0, at) + character + key.slice(at + 1)), null);
      }),
      { numRuns: 1_000 },
    );
  });

  test('is refused when two neighbours are swapped', () => {
    for (let at = 0; at < WHOLE.length - 1; at++) {
      const swapped = WHOLE.slice(0, at) + WHOLE.charAt(at + 1) + WHOLE.charAt(at) + WHOLE.slice(at + 2);
      if (swapped !== WHOLE) equal(parseBearerKey(swapped), null);
    }
  });

  for (const [what, text] of [
    ['nothing', ''],
    ['the word Bearer too', `Bearer ${WHOLE}`],
    ['a character too many', `${WHOLE}0`],
    ['a character too few', WHOLE.slice(0, -1)],
    ['an auth part too short', AUTH_PART.slice(0, -1)],
    ['an auth part with an empty content part', `${AUTH_PART}_`],
    ['no checksum', `${AUTH_PART}_${CONTENT_PART}`],
    ['a line break at the end', `${WHOLE}\n`],
    ['a line break after the auth part', `${AUTH_PART}\n`],
    ['another prefix', WHOLE.replace('sk_', 'pk_')],
    ['letters beyond ASCII', AUTH_PART.replace('A', 'Ａ')],
  ] as const) {
    test(`is refused with ${what}`, () => {
      equal(parseBearerKey(text), null);
    });
  }
});
