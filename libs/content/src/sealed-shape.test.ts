import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envelope, sealed } from './sealed.fixture.ts';
import { envelopeShape, sealedShape, sealedTextShape } from './sealed-shape.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const DIGEST = 'ab'.repeat(32);

test('an envelope shows the key that sealed it and the digest of its value', () => {
  const value = sealed({ kind: 'inputs', fingerprint: KEY, digest: DIGEST });
  assert.deepEqual(sealedShape(value, 'inputs', 100), { fingerprint: KEY, digest: DIGEST });
  assert.deepEqual(sealedTextShape(JSON.stringify(value), 'inputs', 100), { fingerprint: KEY, digest: DIGEST });
});

test('another version, kind, length or spelling is no envelope', () => {
  const bytes = envelope({ kind: 'answer', plainBytes: 0 });
  assert.ok(envelopeShape(bytes, 'answer', 0), 'an empty value is one');
  assert.equal(envelopeShape(bytes, 'inputs', 0), null);
  assert.equal(envelopeShape(bytes.subarray(1), 'answer', 0), null);
  assert.equal(envelopeShape(Buffer.concat([bytes, Buffer.alloc(1)]), 'answer', 0), null, 'too long');
  bytes[0] = 2;
  assert.equal(envelopeShape(bytes, 'answer', 0), null);

  const { $sealed: text } = sealed({ kind: 'answer', plainBytes: 1 });
  const wrong = [
    null,
    'text',
    [text],
    {},
    { $sealed: 7 },
    { $sealed: text, more: 1 },
    { sealed: text },
    { $sealed: `${text}=` },
    { $sealed: `${text} ` },
    { $sealed: text.replace(/.$/, '_') },
    { $sealed: `${text}AAAA` },
    { $sealed: 'A'.repeat(10_000) },
  ];
  for (const value of wrong) assert.equal(sealedShape(value, 'answer', 1), null, JSON.stringify(value));
  assert.equal(sealedTextShape('{', 'answer', 1), null);
  assert.equal(sealedTextShape(' '.repeat(1_000), 'answer', 1), null);
});
