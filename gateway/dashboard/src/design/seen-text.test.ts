import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seenParts } from './seen-text.ts';

const written = (text: string, lines = false) =>
  seenParts(text, lines)
    .map(({ text: part, unseen }) => (unseen === null ? part : `[${unseen}]`))
    .join('');

test('a plain text is one part', () => {
  assert.deepEqual(seenParts('Größe 12 <b>&amp;</b> 🎉', false), [{ text: 'Größe 12 <b>&amp;</b> 🎉', unseen: null }]);
});

test('characters that are not seen, or that turn the text after them around, get a sign', () => {
  assert.equal(written('a\u202eb\u0007c\u200b\u001b[31m\ufeff'), 'a[U+202E]b[U+0007]c[U+200B][U+001B][31m[U+FEFF]');
  assert.equal(written('half \ud83d pair'), 'half [U+D83D] pair');
  assert.equal(written('tag \u{e0041}'), 'tag [U+E0041]');
  const [sign] = seenParts('\n', false);
  assert.deepEqual(sign, { text: '\u240a', unseen: 'U+000A' });
});

test('line breaks and tabs stay where lines are shown', () => {
  assert.equal(written('a\n\tb\r', true), 'a\n\tb[U+000D]');
});
