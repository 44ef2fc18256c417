import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { EditedLine } from './edited-line.ts';

function lineOf(text: string): EditedLine {
  const line = new EditedLine();
  for (const character of text) line.press(character, { name: character });
  return line;
}

test('keys change the line where the cursor is', () => {
  const line = lineOf('one two');
  line.press('\u0017', { name: 'w', ctrl: true });
  equal(line.text, 'one ');
  line.press(undefined, { name: 'home' });
  line.press('X', { name: 'x' });
  line.press(undefined, { name: 'delete' });
  equal(line.text, 'Xne ');
  line.press('\u000b', { name: 'k', ctrl: true });
  equal(line.text, 'X');
  line.press(undefined, { name: 'backspace' });
  line.press(undefined, { name: 'backspace' });
  equal(line.text, '');
});

test('what readers see as one character is removed as one', () => {
  const line = lineOf('e\u0301進👩‍👧');
  line.press(undefined, { name: 'backspace' });
  line.press(undefined, { name: 'backspace' });
  equal(line.text, 'e\u0301');
  line.press(undefined, { name: 'backspace' });
  equal(line.text, '');
});

test('the part shown holds the cursor and never more than the columns', () => {
  const line = lineOf('abcdefgh');
  deepEqual(line.window(20), { text: 'abcdefgh', cursor: 8 });
  deepEqual(line.window(5), { text: 'efgh', cursor: 4 });
  line.press(undefined, { name: 'home' });
  deepEqual(line.window(5), { text: 'abcde', cursor: 0 });
  deepEqual(lineOf('進捗進捗').window(5), { text: '進捗', cursor: 4 });
  for (const none of [0, -3]) deepEqual(lineOf('abc').window(none), { text: '', cursor: 0 });
});

test('keys that do not edit the line are left to others', () => {
  const line = lineOf('a');
  equal(line.press(undefined, { name: 'up' }), false);
  equal(line.press('\u001b', { name: 'escape' }), false);
  equal(line.press('\u0003', { name: 'c', ctrl: true }), false);
  equal(line.text, 'a');
});
