import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce } from '../turns/steps.ts';
import { readList } from './json-list.ts';

function read(text: string, itemsMax = 10) {
  const reading = atOnce(readList(Buffer.from(text), 'runs', itemsMax));
  return reading.ok ? [reading.outline, reading.items.map(String)] : reading.fault.code;
}

test('finds the items of a list as written, with all their content', () => {
  const items = ['{"a":"]},[\\"","b":[{}]}', '7', '"x,]"', 'null', '[ ]', '{ }'];
  assert.deepEqual(read(` {\n"runs" : [ ${items.join(' ,\t')} ] }\r\n`), [{ runs: Array(6).fill(null) }, items]);
  assert.deepEqual(read('{"runs":[]}'), [{ runs: [] }, []]);
  assert.deepEqual(read('{"r\\u0075ns":[1]}'), [{ runs: [null] }, ['1']]);
});

test('keeps only names and kinds of other fields; the last of two lists counts', () => {
  const [outline] = read('{"a":{"b":1},"runs":[1],"c":"x","d":[1],"e":5,"__proto__":{"x":1}}');
  const kept = JSON.parse('{"a":{},"runs":[null],"c":"","d":[],"e":null,"__proto__":{}}');
  assert.deepEqual(outline, kept);
  assert.deepEqual(read('{"runs":[1],"runs":[2,3]}'), [{ runs: [null, null] }, ['2', '3']]);
  assert.deepEqual(read('{"runs":[1],"runs":{}}'), [{ runs: {} }, []]);
  const many = Array.from({ length: 50_000 }, (_, n) => `"f${n}":1`).join();
  const [first] = read(`{${many}}`) as [object, string[]];
  assert.ok(Object.keys(first).length < 30);
  assert.deepEqual(read(`{"${'n'.repeat(5_000)}":1}`), [{ ['n'.repeat(199)]: null }, []]);
});

test('leaves other values, and too many items, to the check of the schema', () => {
  assert.deepEqual(read('[1,2]'), [[], []]);
  assert.deepEqual(read('"x"'), [null, []]);
  assert.deepEqual(read(`{"runs":[${Array(12).fill('1').join()}`, 10), [{ runs: Array(11).fill(null) }, []]);
});

test('a text that is not JSON around the items is refused', () => {
  const broken = [
    '{',
    '{"runs"',
    '{"runs":',
    '{"runs":[',
    '{"runs":[1',
    '{"runs":[1,]}',
    '{"runs":[,]}',
    '{"runs":[1]',
  ];
  const more = ['{"runs":[1]}x', '{"runs":[1] "a":1}', '{"runs":[1],}', '{runs:[]}', '{"runs":["x]}', '{"a":{"b":1}'];
  for (const text of [...broken, ...more]) assert.equal(read(text), 'json', text);
  assert.equal(read('{"a\\u0000":1}'), 'nul');
});

test('reading a long list may pause, and looks at each byte once', () => {
  const bytes = Buffer.from(
    `{"runs":[${Array(1_000)
      .fill(`{"a":"${'x'.repeat(4_000)}"}`)
      .join()}]}`,
  );
  let parts = 0;
  const reading = readList(bytes, 'runs', 1_000);
  for (let step = reading.next(); !step.done; step = reading.next()) parts++;
  assert.ok(parts >= 10, `${parts} parts`);
});
