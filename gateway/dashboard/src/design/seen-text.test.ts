import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seenJson, seenParts } from './seen-text.ts';

const written = (text: string, lines = false) =>
  seenParts(text, lines)
    .map(({ text: part, unseen }) => (unseen === null ? part : `[${unseen}]`))
    .join('');

test('a plain text is one part', () => {
  assert.deepEqual(seenParts('Größe 12 <b>&amp;</b> 🎉', false), [{ text: 'Größe 12 <b>&amp;</b> 🎉', unseen: null }]);
});

test('characters that are not seen, or that turn the text after them around, get a sign', () => {
  assert.equal(written('a\u202eb\u0007c\u200b\u001b[31m\ufeff'), 'a[U+202E]b[U+0007]c[U+200B U+001B][31m[U+FEFF]');
  assert.equal(written('half \ud83d pair'), 'half [U+D83D] pair');
  assert.equal(written('tag \u{e0041}'), 'tag [U+E0041]');
  const [sign] = seenParts('\n', false);
  assert.deepEqual(sign, { text: '\u240a', unseen: 'U+000A' });
});

test('line breaks and tabs stay where lines are shown', () => {
  assert.equal(written('a\n\tb\r', true), 'a\n\tb[U+000D]');
});

test('unseen characters that follow one another are one part, which names the first of them', () => {
  assert.deepEqual(seenParts(`a${'\u202e'.repeat(100_000)}b`, false), [
    { text: 'a', unseen: null },
    { text: '\u00b7'.repeat(100_000), unseen: 'U+202E U+202E U+202E U+202E U+202E and 99995 more' },
    { text: 'b', unseen: null },
  ]);
});

test('a JSON text keeps its value with its unseen characters as escapes', () => {
  const value = { a: '\u202eb\u200b \u{e0041} \ud83d \u{1f389} \u0007\n', '\u2066k': ['\\u202e', '\ufeff'] };
  const shown = seenJson(JSON.stringify(value, null, 2));
  assert.deepEqual(JSON.parse(shown), value);
  assert.deepEqual(seenParts(shown, true), [{ text: shown, unseen: null }]);
  assert.ok(shown.includes('"\\u202eb\\u200b \\udb40\\udc41 '));
});
