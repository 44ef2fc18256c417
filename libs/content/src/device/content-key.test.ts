import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { OVERHEAD_BYTES, SEALED_KIND, type SealedKind } from '../sealed-shape.ts';
import { ContentKey } from './content-key.ts';

const PART = 'A'.repeat(43);
const RUN = '0123456789abcdef'.repeat(2);
const PLACE = { kind: 'out', step: 'each[0].send' } as const;
const key = new ContentKey(PART, 'org_1');
const run = key.ofRun(RUN);
const DAMAGED = { name: 'SealedValueError', code: 'sealed_value_damaged' };
const OTHER_KEY = { name: 'SealedValueError', code: 'content_key_missing' };

describe('a sealed value opens only where it belongs', () => {
  const plain = Buffer.from('plain text of a step');
  const envelope = run.seal(PLACE, plain, 5, randomBytes(32));

  test('it opens unchanged, with its sequence number', () => {
    assert.deepEqual(run.open(PLACE, envelope), { plain, seq: 5 });
    assert.equal(envelope.length, plain.length + OVERHEAD_BYTES);
    assert.equal(envelope.includes(plain), false);
  });

  test('each changed bit is found', () => {
    for (let at = 0; at < envelope.length * 8; at++) {
      const changed = Buffer.from(envelope);
      changed[at >> 3] = (changed[at >> 3] ?? 0) ^ (1 << (at & 7));
      const isFingerprint = at >> 3 >= 2 && at >> 3 < 18;
      assert.throws(() => run.open(PLACE, changed), isFingerprint ? OTHER_KEY : DAMAGED, `bit ${at}`);
    }
  });

  test('each other length is found', () => {
    for (let length = 0; length < envelope.length; length++) {
      assert.throws(() => run.open(PLACE, envelope.subarray(0, length)), { name: 'SealedValueError' });
    }
    assert.throws(() => run.open(PLACE, Buffer.concat([envelope, Buffer.alloc(1)])), DAMAGED);
  });

  test('another organization, run, step or kind refuses it', () => {
    assert.throws(() => key.ofRun('f'.repeat(32)).open(PLACE, envelope), DAMAGED);
    assert.throws(() => run.open({ ...PLACE, step: 'each[1].send' }, envelope), DAMAGED);
    for (const kind of Object.keys(SEALED_KIND) as SealedKind[]) {
      if (kind !== PLACE.kind) assert.throws(() => run.open({ kind, step: PLACE.step }, envelope), DAMAGED, kind);
    }
    // The same content part in another organization is another key.
    assert.throws(() => new ContentKey(PART, 'org_2').ofRun(RUN).open(PLACE, envelope), OTHER_KEY);
    assert.throws(() => new ContentKey('B'.repeat(43), 'org_1').ofRun(RUN).open(PLACE, envelope), OTHER_KEY);
  });

  test('texts of a place cannot be moved from one to the next', () => {
    const one = new ContentKey(PART, 'org_1').ofRun(RUN).seal({ kind: 'out', step: 'ab' }, plain);
    assert.throws(() => run.open({ kind: 'out', step: 'a' }, one), DAMAGED);
    assert.throws(() => run.open({ kind: 'out', step: 'ab\0' }, one), DAMAGED);
  });
});

test('the same value sealed twice has two envelopes and one digest', () => {
  const digests = [key.digestOfInputs({ a: 1, b: 2 }), key.digestOfInputs({ b: 2, a: 1.0 })];
  assert.deepEqual(digests[0], digests[1]);
  const place = { kind: 'inputs', step: '' } as const;
  assert.notEqual(run.sealJson(place, { a: 1 }).$sealed, run.sealJson(place, { a: 1 }).$sealed);
});

test('digests differ by value, purpose, question and key', () => {
  const other = new ContentKey('B'.repeat(43), 'org_1');
  const all = [
    key.digestOfInputs(true),
    key.digestOfInputs('true'),
    key.digestOfAnswer('qst_1', true),
    key.digestOfAnswer('qst_2', true),
    other.digestOfInputs(true),
  ].map((digest) => digest.toString('hex'));
  assert.equal(new Set(all).size, all.length);
});

test('what is no sealed value, or holds no JSON, is refused as damaged', () => {
  const place = { kind: 'inputs', step: '' } as const;
  for (const value of [null, undefined, 5, 'text', {}, { $sealed: 5 }, { $sealed: '' }, { $sealed: '!' }]) {
    assert.throws(() => run.openJson(place, value), DAMAGED);
  }
  for (const bytes of [Buffer.from('{'), Buffer.from([0xff]), Buffer.alloc(0)]) {
    assert.throws(() => run.openJson(place, { $sealed: run.seal(place, bytes).toString('base64url') }), DAMAGED);
  }
});

test('a grant opens only for the key it was wrapped for, and only as that of its old key', () => {
  const old = 'C'.repeat(43);
  const wrapped = key.wrap('key_old', old);
  assert.equal(key.unwrap('key_old', wrapped), old);
  assert.throws(() => key.unwrap('key_other', wrapped), DAMAGED);
  assert.throws(() => new ContentKey(old, 'org_1').unwrap('key_old', wrapped), OTHER_KEY);
  assert.throws(() => key.unwrap('key_old', key.wrap('key_old', 'not a content part')), DAMAGED);
});

test('a content part or a content id of another form is refused without showing it', () => {
  assert.throws(() => new ContentKey('short', 'org_1'), { message: 'A content part has 43 base62 characters.' });
  for (const id of ['', RUN.toUpperCase(), `${RUN}0`]) assert.throws(() => key.ofRun(id), TypeError);
});
