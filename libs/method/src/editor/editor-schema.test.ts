// The editor schema: every good method fits it, wrong keys and shapes do not, and it stays small.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse, stringify } from 'yaml';
import { isJsonObject, type JsonValue } from '../json.ts';
import { editorSchema } from './editor-schema.ts';

const BYTES_MAX = 16_384;
const fits = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false }).compile(editorSchema());
const folder = new URL('../../examples/', import.meta.url);
const GOOD = 'format: method/2\nname: ab\nsteps:\n  - name: one\n    node: f()\n';

function fitsYaml(source: string): boolean {
  return fits(parse(source, { version: '1.2', schema: 'core' }));
}

for (const name of readdirSync(folder).filter((file) => file.endsWith('.method'))) {
  test(`${name} fits the schema`, () => {
    assert.ok(fitsYaml(readFileSync(new URL(name, folder), 'utf8')), JSON.stringify(fits.errors));
  });
}

test('the schema is at most 16 KiB and describes every top-level and step key', () => {
  const schema = editorSchema();
  const text = JSON.stringify(schema);
  assert.ok(Buffer.byteLength(text) <= BYTES_MAX, `${Buffer.byteLength(text)} bytes`);
  const { properties, $defs } = schema as { properties: JsonValue; $defs: { step: { properties: JsonValue } } };
  for (const mapping of [properties, $defs.step.properties]) {
    assert.ok(isJsonObject(mapping));
    for (const [key, value] of Object.entries(mapping)) assert.ok(isJsonObject(value) && value.description, key);
  }
});

const WRONG: Readonly<Record<string, string>> = {
  'an unknown key': `${GOOD}titel: x\n`,
  'an unknown step key': `${GOOD}    when: true\n`,
  'no format': GOOD.replace('format: method/2\n', ''),
  'another format': GOOD.replace('method/2', 'method/3'),
  'no name': GOOD.replace('name: ab\n', ''),
  'no steps': 'format: method/2\nname: ab\n',
  'a step without kind': GOOD.replace('node: f()', 'title: x'),
  'a step with two kinds': `${GOOD}    ask: Really?\n`,
  'an http step without verb': GOOD.replace('node: f()', 'http: { query: { a: 1 } }'),
  'an http step with two verbs': GOOD.replace('node: f()', 'http: { get: https://a.example, put: https://a.example }'),
  'a repeat without max': `${GOOD}    repeat: { until: out == null }\n`,
  'a number as duration': `${GOOD}    limits: { timeout: 5 }\n`,
  'an unknown word': `${GOOD}    on_error: stop\n`,
  'a file of a test that is no text': `${GOOD}tests: [{ name: a, inputs: { f: [{ $file: 1 }] } }]\n`,
  'a file of a test with more than its text': `${GOOD}tests: [{ name: a, inputs: { f: { $file: x, name: y } } }]\n`,
  'a wrong key of a test': `${GOOD}tests: [{ name: a, mocks: {} }]\n`,
};

for (const [name, source] of Object.entries(WRONG)) {
  test(`${name} does not fit the schema`, () => assert.equal(fitsYaml(source), false, stringify(parse(source))));
}

test('every form that the language allows fits: x- keys, every kind, short and long forms', () => {
  const kinds = [
    'python: pass',
    'shell: "true"',
    'ask: { question: Go?, details: x, show: [inputs.a] }',
    'call: wf_8Xk2Lq@published',
    'wait: 1h30m',
    'wait: { until: inputs.start }',
    'check: [{ It is so: 1 == 1 }, { name: b, that: true, level: warn, message: no }]',
    'parallel: [{ name: two, node: f() }]',
    'steps: [{ name: two, node: f() }]\n    result: { a: 1 }',
    'browser: { start: https://a.example, do: [{ goto: x }] }',
    'agent: { goal: x, tools: [], max_turns: 3 }',
  ];
  for (const kind of kinds)
    assert.ok(fitsYaml(GOOD.replace('node: f()', kind)), `${kind} ${JSON.stringify(fits.errors)}`);
  assert.ok(fitsYaml(`${GOOD}    x-note: 1\n    retry: 3\nx-top: [1]\nresult:\n`));
  const inputs = '{ f: { $file: "a\\nb" }, list: [{ $file: a }, 1], deep: { in: { $file: a }, n: null } }';
  assert.ok(fitsYaml(`${GOOD}tests: [{ name: a, inputs: ${inputs} }]\n`), JSON.stringify(fits.errors));
  assert.ok(fitsYaml('format: workflow/2\nworkflow: ab\nsteps: [{ name: a, human: Go?, outputs: { a: string } }]'));
});
