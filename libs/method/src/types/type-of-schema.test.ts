// The way from a type to its JSON Schema and back, as callers of a method read its interface.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { compileMethod } from '../compile.ts';
import { shortType } from './type.ts';
import { typeOfSchema } from './type-of-schema.ts';

test('what the compiler writes of an interface is read back', () => {
  const { method } = compileMethod(
    'format: method/2\nname: ab\ntypes:\n  Team: [red, blue]\n  Unit: { team: Team, size: integer 0.. }\ninputs:\n  a: string 1..5\n  b?: Unit\n  c: list<Unit> = []\n  d: number | null\n  e: map<boolean>\n  f: file\n  g: any\n  h: datetime\n  i: string | integer | null\n  j: object\nsteps:\n  - name: s\n    wait: 1s\n',
  );
  assert.ok(method);
  const type = typeOfSchema(method.inputSchema);
  assert.ok(type.kind === 'object');
  const shown = Array.from(
    type.fields,
    ([name, field]) => `${name}${field.optional ? '?' : ''}: ${shortType(field.type)}`,
  );
  assert.deepEqual(shown, [
    'a: string',
    'b?: { team: [red, blue], size: integer }',
    'c?: list<{ team: [red, blue], size: integer }>',
    'd: number | null',
    'e: map<boolean>',
    'f: file',
    'g: any',
    'h: datetime',
    'i: string | integer | null',
    'j: object',
  ]);
  assert.deepEqual(type.fields.get('a')?.type, { kind: 'string', bounds: { min: 1, max: 5 } });
});

test('a schema that is not ours, refers to itself or has no end is any where it is not understood', () => {
  assert.equal(typeOfSchema({}).kind, 'any');
  assert.equal(typeOfSchema({ type: 'strange' }).kind, 'any');
  assert.equal(typeOfSchema({ $ref: 'https://example.com/schema' }).kind, 'any');
  assert.equal(typeOfSchema({ $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } }).kind, 'any');
  const doubling = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [
      `D${n}`,
      { anyOf: [{ $ref: `#/$defs/D${n + 1}` }, { type: 'array', items: { $ref: `#/$defs/D${n + 1}` } }] },
    ]),
  );
  const cpuMs = leastCpuMs(1_000, () => typeOfSchema({ $ref: '#/$defs/D0', $defs: doubling }));
  assert.ok(cpuMs < 1_000, `took ${cpuMs} ms of CPU`);
});
