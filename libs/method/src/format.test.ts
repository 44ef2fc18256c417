// Recognising a source's format without compiling it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatOf } from './format.ts';

const CASES: readonly (readonly [source: string, format: string | null])[] = [
  ['format: method/2\nname: a', 'method/2'],
  ['# comment\nname: a\nformat: "workflow/2" # old\n', 'workflow/2'],
  ['workflow: Free text\r\nformat: workflow/1\r\n', 'workflow/1'],
  ["'format': 'method/2'", 'method/2'],
  ['{"name": "a", "format": "workflow/1"}', 'workflow/1'],
  ['{ format: method/2, name: ab }', 'method/2'],
  ['x-note: |\n  format: method/2\nformat: workflow/1\n', 'workflow/1'],
  ['format: method/3', null],
  ['steps:\n  format: method/2', null],
  ['', null],
];

for (const [source, format] of CASES) {
  test(`the format of ${JSON.stringify(source.slice(0, 50))} is ${format}`, () => {
    assert.equal(formatOf(source), format);
    assert.equal(formatOf(new TextEncoder().encode(source)), format);
  });
}

test('bytes that are not text have no format', () => assert.equal(formatOf(new Uint8Array([0xff, 0xfe, 0x00])), null));
