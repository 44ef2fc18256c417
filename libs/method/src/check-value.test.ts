// Checks of values: findings, defaults, projection, and values made to hurt.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { compileCheck, projectOut } from './check-value.ts';
import { compileMethod } from './compile.ts';
import type { JsonSchema, JsonValue } from './json.ts';

function schemaOf(fields: string): JsonSchema {
  const { method, diagnostics } = compileMethod(
    `format: method/2\nname: ab\ntypes:\n  Item: { id: string, size: integer = 3 }\ninputs: ${fields}\nsteps:\n  - name: one\n    node: f()\n`,
  );
  assert.ok(method, JSON.stringify(diagnostics));
  return method.inputSchema;
}

test('findings carry a JSON Pointer, a code and a sentence with did-you-mean', () => {
  const check = compileCheck(
    schemaOf('{ order_id: string, amount: number 1..5, items: list<Item>, kind: [red, blue] }'),
  );
  const result = check({ order_idd: 'x', amount: 9, items: [{ id: 1 }], kind: 'rot' });
  assert.ok(!result.ok);
  assert.deepEqual(result.findings.map(({ path, code, message }) => `${path} ${code}: ${message}`).sort(), [
    '/amount too_large: must be at most 5',
    '/items/0/id type: must be text',
    '/kind not_a_choice: must be one of "red", "blue"',
    '/order_id required: is required',
    '/order_idd unknown_field: is not a known field; did you mean "order_id"?',
  ]);
});

test('a failed union names its kinds once, or only the faults inside the intended branch', () => {
  const check = compileCheck(schemaOf('{ maybe: Item | null, either: "string 1..3 | list<Item> | null" }'));
  const shown = (value: JsonValue) => {
    const result = check(value);
    return result.ok ? [] : result.findings.map(({ path, code, message }) => `${path} ${code}: ${message}`);
  };
  assert.deepEqual(shown({ maybe: { id: 1 }, either: null }), ['/maybe/id type: must be text']);
  assert.deepEqual(shown({ maybe: 5, either: null }), ['/maybe type: must be an object or null']);
  assert.deepEqual(shown({ maybe: null, either: true }), ['/either type: must be text or a list or null']);
  assert.deepEqual(shown({ maybe: null, either: 'abcd' }), ['/either too_long: must have at most 3 characters']);
  assert.deepEqual(shown({ maybe: null, either: '' }), ['/either too_short: must have at least 1 character']);
  assert.deepEqual(shown({ maybe: null, either: [{ id: 'a' }, { idd: 'b' }] }), [
    '/either/1/id required: is required',
    '/either/1/idd unknown_field: is not a known field; did you mean "id"?',
  ]);
});

test('at most 20 findings are given', () => {
  const result = compileCheck(schemaOf('{ items: list<integer> }'))({ items: Array.from({ length: 500 }, () => 'x') });
  assert.equal(result.ok ? 0 : result.findings.length, 20);
});

test('defaults fill a copy, at any depth and inside unions, and the given value is not changed', () => {
  const check = compileCheck(
    schemaOf('{ one: Item, many: list<Item>, maybe: Item | null, by_name: map<Item>, n: integer = 1 }'),
  );
  const given = {
    one: { id: 'a' },
    many: [{ id: 'b', size: 9 }, { id: 'c' }],
    maybe: { id: 'd' },
    by_name: { x: { id: 'e' } },
  };
  const copy = structuredClone(given);
  assert.deepEqual(check(given), {
    ok: true,
    value: {
      one: { id: 'a', size: 3 },
      many: [
        { id: 'b', size: 9 },
        { id: 'c', size: 3 },
      ],
      maybe: { id: 'd', size: 3 },
      by_name: { x: { id: 'e', size: 3 } },
      n: 1,
    },
  });
  assert.deepEqual(given, copy);
});

test('a schema with several patterns applies each to its own field', () => {
  const check = compileCheck(schemaOf('{ a: string /^a$/, b: string /^b$/ }'));
  assert.equal(check({ a: 'a', b: 'b' }).ok, true);
  assert.equal(check({ a: 'b', b: 'b' }).ok, false);
});

test('inherited names are neither present fields nor known ones', () => {
  const check = compileCheck(schemaOf('{ x: string }'));
  assert.equal(check({}).ok, false);
  assert.equal(check(JSON.parse('{"x":"a","__proto__":{"y":1}}')).ok, false);
  assert.equal(check(JSON.parse('{"x":"a","constructor":1}')).ok, false);
  const open = compileCheck(schemaOf('{ m: map<integer> }'))(JSON.parse('{"m":{"__proto__":1,"constructor":2}}'));
  assert.ok(open.ok);
  assert.deepEqual(Object.keys((open.value as { m: object }).m), ['__proto__', 'constructor']);
});

test('a field may be named like an inherited one', () => {
  const source =
    'format: method/2\nname: ab\nsteps:\n  - name: one\n    node: f()\n    out: { constructor: string, valueOf?: string = x }\n';
  const out = compileMethod(source).method?.steps[0]?.out;
  assert.equal(out?.check({}).ok, false);
  assert.deepEqual(out?.check({ constructor: 'a' }), { ok: true, value: { constructor: 'a', valueOf: 'x' } });
});

test('a deeply nested value is refused, not followed', () => {
  let deep: JsonValue = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  const result = compileCheck(schemaOf('{ a: any }'))({ a: deep });
  assert.equal(result.ok ? '' : result.findings[0]?.code, 'too_deep');
});

test('a pattern that hangs backtracking engines answers at once', () => {
  const check = compileCheck(schemaOf('{ a: string /^(a+)+$/ }'));
  assert.ok(leastCpuMs(1_000, () => assert.equal(check({ a: `${'a'.repeat(100_000)}!` }).ok, false)) < 1_000);
});

test('many long texts against a large pattern stay within a bound of work', () => {
  const check = compileCheck(schemaOf('{ a: "list<string /(x[a-z]{1,400}y){2}/>" }'));
  const cpuMs = leastCpuMs(2_000, () => {
    const result = check({ a: Array.from({ length: 20 }, () => `${'xabc'.repeat(3_000)}xaayxaay`) });
    assert.equal(result.ok ? '' : result.findings[0]?.code, 'too_long');
  });
  assert.ok(cpuMs < 2_000, `took ${cpuMs} ms of CPU`);
});

test('a list of many items is checked for repeats in linear time', () => {
  const check = compileCheck(schemaOf('{ a: { $schema: { type: array, uniqueItems: true } } }'));
  const items = Array.from({ length: 30_000 }, (_, n) => ({ n }));
  const cpuMs = leastCpuMs(2_000, () => {
    assert.equal(check({ a: items }).ok, true);
    assert.equal(check({ a: [...items, { n: 5 }] }).ok, false);
  });
  assert.ok(cpuMs < 2_000, `took ${cpuMs} ms of CPU`);
});

test('projection drops undeclared fields at any depth and names them', () => {
  const schema = schemaOf(
    '{ id: string, items: list<Item>, maybe?: Item | null, free: object, note?: string, both?: string | null }',
  );
  const given = {
    id: 'a',
    raw: 1,
    items: [{ id: 'x', extra: true }],
    maybe: { id: 'y', z: 1 },
    free: { any: 1 },
    note: null,
    both: null,
  };
  assert.deepEqual(projectOut(schema, given), {
    value: { id: 'a', items: [{ id: 'x' }], maybe: { id: 'y' }, free: { any: 1 }, both: null },
    dropped: ['raw', 'items[0].extra', 'maybe.z'],
  });
});

test('projection leaves values of the wrong shape for the check to refuse', () => {
  const schema = schemaOf('{ items: list<Item> }');
  assert.deepEqual(projectOut(schema, { items: 'x' }).value, { items: 'x' });
  assert.deepEqual(projectOut(schema, [1]).value, [1]);
});
