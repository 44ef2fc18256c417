// Owns the JSON Schema that editors use to complete and check `.method` files. It knows keys, shapes and descriptions;
// names, types and expressions are the compiler's.
import { DEPENDENCY_KEYS, LIB_KEYS } from '../dependencies/read-dependencies.ts';
import type { JsonObject, JsonSchema } from '../json.ts';
import { METHOD_KEYS, METHOD_LIMIT_KEYS } from '../structure/keys.ts';
import { EXPECT_KEYS, STATUSES, TEST_KEYS } from '../tests-section/test-keys.ts';
import { DIALECT } from '../types/json-schema.ts';
import { type KeySchema, listOf, mapOf, mapping, oneOf, ref } from './schema-parts.ts';
import { checksSchema, LIMIT_VALUES, stepSchema } from './step-schema.ts';

const TEXT: JsonSchema = { type: 'string' };
const CODE: JsonSchema = { type: 'string', minLength: 1 };
const VERSION: JsonSchema = { type: ['string', 'number'] };
const VALUES: JsonSchema = { type: ['object', 'null'] };
const TEXTS = listOf(TEXT);
const FILE_TEXT: JsonSchema = { description: 'Text of a file', type: 'string' };
const GIVEN: JsonSchema = { ...VALUES, additionalProperties: ref('given') };

const METHOD_VALUES: Readonly<Record<string, KeySchema>> = {
  format: ['method/2', oneOf('method/2', 'workflow/2')],
  name: ['Small letters, digits and -', { type: 'string', pattern: '^[a-z][a-z0-9-]{0,62}[a-z0-9]$' }],
  title: ['First display name', TEXT],
  description: ['Markdown', TEXT],
  inputs: ['Fields a run is given', ref('fields')],
  types: ['Shared types, Name: type', ref('fields')],
  secrets: ['[NAME] or NAME: note; read from the environment of the worker', { anyOf: [TEXTS, VALUES] }],
  dependencies: [
    'What a worker must have or prepare',
    mapping(DEPENDENCY_KEYS, {
      node: ['Lowest version', VERSION],
      python: ['Lowest version', VERSION],
      npm: ['Exact versions: [stripe@17.5.0]', TEXTS],
      pip: ['Exact versions: [pandas==2.2.3]', TEXTS],
      commands: ['Commands that must be there: [git]', TEXTS],
    }),
  ],
  lib: [
    'Code that every step of the language can call',
    mapping(LIB_KEYS, { node: ['', CODE], python: ['', CODE], shell: ['', CODE] }),
  ],
  limits: ['Bounds of the run, and defaults of its code and http steps', mapping(METHOD_LIMIT_KEYS, LIMIT_VALUES)],
  require: ['Checks before the first step; they see inputs', ref('checks')],
  steps: ['Steps, run in order', ref('steps')],
  ensure: ['Checks after the last step', ref('checks')],
  on_failure: ['Steps after a failure; they see failure', ref('steps')],
  finally: ['Steps after success or failure', ref('steps')],
  result: ['What the run gives, name: value', VALUES],
  tests: [
    'Runs with mocked steps; never in production',
    listOf(
      mapping(
        TEST_KEYS,
        {
          name: ['A sentence', TEXT],
          inputs: ['Of the run; a file as { $file: text }', GIVEN],
          secrets: ['Made-up values', VALUES],
          mock: [
            'Step to its out, with files as { $file: text }, a list for rounds, or { $error: { kind, status, headers, body } }',
            VALUES,
          ],
          answers: ['Ask step to its answer', VALUES],
          expect: [
            '',
            mapping(EXPECT_KEYS, {
              status: ['', oneOf(...STATUSES)],
              result: ['A part of the result', VALUES],
              skipped: ['Steps that did not run', TEXTS],
              failed_step: ['', TEXT],
              checks_failed: ['Names of checks', TEXTS],
              that: ['Checks; they see inputs, steps and result', ref('checks')],
            }),
          ],
        },
        { required: ['name'] },
      ),
      { maxItems: 100 },
    ),
  ],
};

const DEFINITIONS: JsonObject = {
  given: {
    anyOf: [
      { type: 'object', properties: { $file: FILE_TEXT }, required: ['$file'], additionalProperties: false },
      { type: 'object', properties: { $file: false }, additionalProperties: ref('given') },
      { type: 'array', items: ref('given') },
      { type: ['string', 'number', 'boolean', 'null'] },
    ],
  },
  duration: { type: 'string', pattern: '^(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?(\\d+ms)?$', minLength: 2 },
  type: {
    description:
      'T bounds = default -- description. string number integer boolean text date datetime time email url uuid any object file secret, list<T>, map<T>, T | null, [choice, choice], { a: T, b?: T }, or { $type, $title, $description, $default, $examples }',
    type: ['string', 'array', 'object', 'null'],
  },
  fields: { ...mapOf(ref('type')), description: 'name: type, or name?: type' },
};

/** The schema as served at `{base_url}/schemas/method-2.json`: JSON Schema 2020-12, at most 16 KiB as JSON. */
export function editorSchema(): JsonSchema {
  const { properties, ...method } = mapping(METHOD_KEYS, METHOD_VALUES, { required: ['format', 'steps'] });
  return {
    $schema: DIALECT,
    title: 'A method',
    ...method,
    properties: {
      ...(properties as JsonObject),
      workflow: { description: 'name, in workflow/2', deprecated: true, ...TEXT },
    },
    anyOf: [{ required: ['name'] }, { required: ['workflow'] }],
    $defs: {
      ...DEFINITIONS,
      step: stepSchema(),
      steps: listOf(ref('step'), { minItems: 1, maxItems: 200 }),
      checks: checksSchema(),
    },
  };
}
