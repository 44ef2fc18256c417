import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../json.ts';
import { problemOfSchema } from './schema-form.ts';

const ajv = new Ajv2020({ strict: false, logger: false });

function problemOfAjv(schema: JsonObject): string | undefined {
  if (ajv.validateSchema(schema) === true) return undefined;
  const error = ajv.errors?.[0];
  return `${error?.instancePath || 'it'} ${error?.message}`;
}

const KEYWORDS = [
  ...['$comment', 'prefixItems', 'items', 'contains', 'additionalProperties', 'properties', 'patternProperties'],
  ...['dependentSchemas', 'propertyNames', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf', 'not', 'unevaluatedItems'],
  ...['unevaluatedProperties', 'type', 'const', 'enum', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum'],
  ...['exclusiveMinimum', 'maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems', 'maxContains'],
  ...['minContains', 'maxProperties', 'minProperties', 'required', 'dependentRequired', 'title', 'description'],
  ...['default', 'deprecated', 'readOnly', 'writeOnly', 'examples', 'format', 'contentEncoding', 'contentMediaType'],
  ...['contentSchema', 'dependencies', 'x-own', 'unknown'],
];

const VALUES: readonly JsonValue[] = [
  ...[null, true, 0, -1, 1, 1.5, '', 'string', 'a/b~c', [], {}, [1], [{}], [true, 3], ['a', 'a'], ['a', 'b', 'a', 'b']],
  ...[['string', 'null'], ['string', 'string'], ['text'], [1, 'a', 'a'], { a: {} }, { 'a/b~c': 5 }, { a: ['b', 'b'] }],
  ...[{ a: ['b'], c: [1] }, { a: true, b: [] }, { a: { minLength: -1 } }, [{ type: 'text' }]],
];

test('each keyword with each value has the problem that Ajv reports', () => {
  for (const keyword of KEYWORDS) {
    for (const value of VALUES) {
      const schema = { [keyword]: value };
      assert.equal(problemOfSchema(schema), problemOfAjv(schema), JSON.stringify(schema));
    }
  }
});

test('of several problems, the one that Ajv finds first is reported', () => {
  const { schema } = fc.letrec<{ schema: JsonObject; value: JsonValue }>((tie) => ({
    schema: fc.dictionary(fc.constantFrom(...KEYWORDS), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...VALUES),
      tie('schema'),
      fc.array(tie('schema'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b/c', '~'), tie('schema'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(schema, (each) => assert.equal(problemOfSchema(each), problemOfAjv(each))),
    { numRuns: 3_000 },
  );
});

test('a valid schema has no problem', () => {
  assert.equal(problemOfSchema({ type: ['string', 'null'], anyOf: [{ minLength: 1 }], required: ['a'] }), undefined);
});
