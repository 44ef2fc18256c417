import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { textOfBase64, utf8Bytes } from './utf8-bytes.ts';

test('bytes of texts are those that Node counts', () => {
  for (const text of ['', 'a', 'é', '€', '😀', '\ud83d', '\ude00', '\ude00\ud83d', 'a\ud83d', '\ud83d\ud83d\ude00'])
    assert.equal(utf8Bytes(text), Buffer.byteLength(text), JSON.stringify(text));
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => utf8Bytes(text) === Buffer.byteLength(text)));
});

test('base64 is decoded as Node does', () => {
  for (const text of ['', 'a', 'é€😀', '{"a":[1,2]}'])
    assert.equal(textOfBase64(Buffer.from(text).toString('base64')), text);
  assert.equal(textOfBase64('eyJh\nIjox\r\nfQ=='), '{"a":1}');
  assert.equal(textOfBase64('/w=='), '\ufffd');
});

test('what is not base64 is empty', () => {
  assert.equal(textOfBase64('{"a":1}'), '');
});
