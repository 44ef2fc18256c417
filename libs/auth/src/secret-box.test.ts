import { equal, notDeepEqual, ok, throws } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { open, SecretBoxError, seal } from './secret-box.ts';

const MASTER_KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${'x'.repeat(43)}`;
const AAD = 'key_1';

test('any sealed text opens again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (plaintext, aad) => {
      equal(open(MASTER_KEY, seal(MASTER_KEY, plaintext, aad), aad), plaintext);
    }),
  );
});

test('opens a box from a plain Uint8Array, as returned by a database', () => {
  equal(open(MASTER_KEY, new Uint8Array(seal(MASTER_KEY, SECRET, AAD)), AAD), SECRET);
});

test('a box sealed elsewhere with AES-256-GCM opens', () => {
  const box = '01000102030405060708090a0b70e4851c72b7150d5eb62478afbd7cbd754a1461d5';
  equal(open(MASTER_KEY, Buffer.from(box, 'hex'), AAD), 'hello');
});

test('the same secret is never sealed to the same bytes, and does not show in them', () => {
  const box = seal(MASTER_KEY, SECRET, AAD);
  notDeepEqual(box, seal(MASTER_KEY, SECRET, AAD));
  ok(!box.includes('whsec_'));
  equal(box.length, 1 + 12 + SECRET.length + 16);
});

test('a box with any bit changed does not open', () => {
  const box = seal(MASTER_KEY, SECRET, AAD);
  for (let bit = 0; bit < box.length * 8; bit++) {
    const changed = Buffer.from(box);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    throws(() => open(MASTER_KEY, changed, AAD), SecretBoxError);
  }
});

test('a box that was cut short or made longer does not open', () => {
  const box = seal(MASTER_KEY, SECRET, AAD);
  for (let length = 0; length < box.length; length++) {
    throws(() => open(MASTER_KEY, box.subarray(0, length), AAD), SecretBoxError);
  }
  throws(() => open(MASTER_KEY, Buffer.concat([box, Buffer.of(0)]), AAD), SecretBoxError);
});

test('a box does not open in another place or under another master key', () => {
  const box = seal(MASTER_KEY, SECRET, AAD);
  for (const aad of ['key_2', '', 'key_1 ']) throws(() => open(MASTER_KEY, box, aad), SecretBoxError);
  throws(() => open(randomBytes(32), box, AAD), SecretBoxError);
});

test('a master key of another length is refused', () => {
  for (const bytes of [0, 16, 31, 33]) {
    throws(() => seal(Buffer.alloc(bytes), SECRET, AAD), SecretBoxError);
    throws(() => open(Buffer.alloc(bytes), seal(MASTER_KEY, SECRET, AAD), AAD), SecretBoxError);
  }
});

test('an error reveals nothing of the secret', () => {
  const box = seal(MASTER_KEY, SECRET, AAD);
  throws(
    () => open(MASTER_KEY, box, 'key_2'),
    (error: unknown) => error instanceof SecretBoxError && !error.message.includes('whsec_') && !error.cause,
  );
});
