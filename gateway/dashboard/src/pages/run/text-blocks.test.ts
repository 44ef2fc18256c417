import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textBlocks } from './text-blocks.ts';

test('blocks end with lines, and lose nothing', () => {
  const text = Array.from({ length: 2_000 }, (_, at) => `line ${at}`).join('\n');
  const blocks = textBlocks(text);
  assert.ok(blocks.length > 3);
  assert.equal(blocks.join('\n'), text);
});

test('one line of a megabyte is cut, but not within a character', () => {
  const text = 'a😀'.repeat(350_000);
  const blocks = textBlocks(text);
  assert.ok(blocks.length > 200);
  assert.equal(blocks.join(''), text);
  assert.ok(blocks.every((block) => !/[\ud800-\udbff]$/.test(block)));
});

test('a text that begins with line ends is cut too', () => {
  assert.equal(
    textBlocks(`\n${'x'.repeat(9_000)}`)
      .join('')
      .replace('\n', '').length,
    9_000,
  );
  assert.deepEqual(textBlocks(''), []);
});
