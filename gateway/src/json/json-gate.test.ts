import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JSON_DEPTH_MAX, type JsonFault, readJson } from './json-gate.ts';

function faultOf(text: string | Buffer): JsonFault | null {
  const reading = readJson(Buffer.from(text as string));
  return reading.ok ? null : reading.fault;
}

test('any JSON value of well-formed text and safe numbers is read unchanged', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((s) => !s.includes('\0') && !/\p{Surrogate}/u.test(s));
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;
  fc.assert(
    fc.property(value, (given) => {
      const reading = readJson(Buffer.from(JSON.stringify(given)));
      assert.ok(reading.ok);
      assert.equal(JSON.stringify(reading.value), JSON.stringify(given));
    }),
  );
});

test('a whole number beyond 2^53 - 1 is refused by its spelling', () => {
  assert.equal(faultOf('{"a":[1,9007199254740993]}')?.code, 'number_range');
  assert.equal(faultOf('-9007199254740992')?.code, 'number_range');
  assert.equal(faultOf('{"a":9007199254740991}'), null);
  assert.equal(faultOf('{"a":1.5e300}'), null);
  assert.equal(faultOf('{"a":1e300,"9007199254740993":"9007199254740993 \\" 9007199254740993"}'), null);
});

test('a number beyond the range of a double is refused with its place', () => {
  assert.deepEqual(faultOf('{"a/b":[1,1e400]}'), {
    path: '/a~1b/1',
    code: 'number_range',
    message: 'A number is too large.',
  });
});

test('NUL and unpaired surrogates are refused in texts and in names', () => {
  assert.equal(faultOf('{"a":"x\\u0000"}')?.code, 'nul');
  assert.equal(faultOf('{"\\u0000":1}')?.code, 'nul');
  assert.equal(faultOf('["\\ud83d"]')?.code, 'lone_surrogate');
  assert.equal(faultOf('{"\\udc00":1}')?.code, 'lone_surrogate');
  assert.equal(faultOf('["\\ud83d\\ude00","\\\\u0000"]'), null);
});

test('nesting is counted in lists and objects', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.equal(faultOf(nested(JSON_DEPTH_MAX)), null);
  assert.equal(faultOf(nested(JSON_DEPTH_MAX + 1))?.code, 'json_depth');
  assert.equal(faultOf(nested(30_000))?.code, 'json_depth');
  assert.equal(faultOf(nested(400_000))?.code, 'json_weight');
});

test('text that is not UTF-8 or not JSON is refused without quoting it', () => {
  assert.equal(faultOf(Buffer.from([0x22, 0xff, 0x22]))?.code, 'utf8');
  const broken = faultOf('{"secret-content": tru}');
  assert.equal(broken?.code, 'json');
  assert.ok(!broken?.message.includes('secret'));
});

test('a __proto__ member pollutes nothing and stays visible as an own name', () => {
  const reading = readJson(Buffer.from('{"__proto__":{"polluted":true},"a":{"constructor":{"prototype":{"x":1}}}}'));
  assert.ok(reading.ok);
  assert.deepEqual(Object.keys(reading.value as object), ['__proto__', 'a']);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});
