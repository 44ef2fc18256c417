import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeCharacters } from './read-values.ts';

const TEXT = 'aä€😀z'.repeat(20);

test('parts of any length end at whole characters and add up to the text', () => {
  const bytes = Buffer.from(TEXT);
  for (let length = 4; length < 20; length++) {
    let text = '';
    for (let offset = 0; offset < bytes.length; ) {
      const part = bytes.subarray(offset, offset + length);
      const whole = wholeCharacters(part, offset + length >= bytes.length);
      assert.ok(whole.bytes > 0 && !whole.text.includes('\ufffd'));
      text += whole.text;
      offset += whole.bytes;
    }
    assert.equal(text, TEXT);
  }
});

test('a part that begins within a character begins with the next one', () => {
  const bytes = Buffer.from('😀abc');
  for (const from of [1, 2, 3]) assert.equal(wholeCharacters(bytes.subarray(from), true).text, 'abc');
});

test('an empty part is empty, and a last part keeps all of it', () => {
  assert.deepEqual(wholeCharacters(new Uint8Array(), true), { text: '', bytes: 0 });
  assert.equal(wholeCharacters(Buffer.from('ä'), true).text, 'ä');
});
