import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson } from './json-gate.ts';
import { jsonWeight, WEIGHT_PER_MIB_MAX } from './json-weight.ts';

const MIB = 1024 * 1024;

function filled(piece: string, between: string, bytes: number): string {
  return Array.from({ length: Math.floor(bytes / (piece.length + between.length)) }, () => piece).join(between);
}

const heavy: Readonly<Record<string, string>> = {
  lists: `[${filled('[]', ',', MIB)}]`,
  objects: `[${filled('{}', ',', MIB)}]`,
  nesting: `[${filled(`${'['.repeat(60)}1${']'.repeat(60)}`, ',', MIB)}]`,
  pairs: `[${filled('{"a":1}', ',', MIB)}]`,
  names: `{${Array.from({ length: 100_000 }, (_, n) => `"${n}":0`).join(',')}}`,
};

for (const [name, text] of Object.entries(heavy)) {
  test(`a megabyte of ${name} is refused before it is parsed`, () => {
    const reading = readJson(Buffer.from(text));
    assert.equal(reading.ok ? '' : reading.fault.code, 'json_weight');
  });
}

const light: Readonly<Record<string, string>> = {
  'a megabyte of text with every mark of JSON in it': JSON.stringify({ a: filled('{"[:,]}', '\\', MIB / 2) }),
  'a megabyte of numbers': `[${filled('12', ',', MIB)}]`,
  'rows of 256 KiB': `[${filled('{"id":17,"name":"Ada"}', ',', 256 * 1024)}]`,
  'points of 256 KiB': `[${filled('[1,2]', ',', 256 * 1024)}]`,
};

for (const [name, text] of Object.entries(light)) {
  test(`${name} passes`, () => {
    assert.ok(readJson(Buffer.from(text)).ok);
    assert.ok(jsonWeight(Buffer.from(text)) <= WEIGHT_PER_MIB_MAX);
  });
}

test('an escaped quote ends no text', () => {
  assert.equal(jsonWeight(Buffer.from(String.raw`"\"[[[[\\"`)), 0);
  assert.equal(jsonWeight(Buffer.from(String.raw`["\\",[]]`)), 1.05);
});

test('counting ends soon after `enough`', () => {
  const text = Buffer.from(heavy.lists ?? '');
  const counted = jsonWeight(text, 1_000);
  assert.ok(counted > 1_000 && counted < 4_000, `${counted} of ${jsonWeight(text)}`);
  const long = Buffer.from(JSON.stringify(['x'.repeat(20_000), [], [], 'y'.repeat(20_000), []]));
  assert.equal(jsonWeight(long), 2 + 4 / 20);
});
