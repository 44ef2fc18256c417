// Everything docs/language.md shows is compiled, every expression is evaluated. The text after
// a fence says what the block is:
//   yaml              a whole method
//   yaml steps        a list of steps, put into a method with the inputs below
//   yaml top          top-level keys, put into a method with one step where they bring none
//   yaml fields       fields, put under inputs
//   yaml inputs, json inputs   types and values of the inputs that the expressions read
//   text expressions  an expression a line, and behind // its value as JSON, or the code that refuses it
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMethod } from '@methods/method/compile';
import { evaluate } from '@methods/method/evaluate';
import { LIST_METHODS } from '@methods/method/expression/methods-of-lists';
import { TEXT_METHODS } from '@methods/method/expression/methods-of-texts';
import type { JsonObject } from '@methods/method/json';
import * as keyTables from '@methods/method/structure/keys';
import { documents } from '../tidy/source-files.ts';
import { type FencedBlock, fencedBlocks } from './fenced-blocks.ts';

const page = documents.find(({ path }) => path === 'docs/language.md') ?? { path: 'docs/language.md', text: '' };
const blocks = fencedBlocks(page);
const HEADER = 'format: method/2\nname: shown\n';
const INPUTS = `inputs:
  amount: number
  day: date
  start: datetime
  items: "list<{ sku: string, pieces: integer }>"
`;
const SECRETS = ['CLIENT_ID', 'CLIENT_SECRET'];

function ofKind(info: string): FencedBlock[] {
  const found = blocks.filter((block) => block.info === info);
  assert.ok(found.length > 0, `no block is fenced as ${info}`);
  return found;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

function findings(source: string, { at }: FencedBlock): string[] {
  return compileMethod(source).diagnostics.map(({ code, line, message }) => `${at} line ${line}: ${code} ${message}`);
}

const WHOLE: Readonly<Record<string, (text: string) => string>> = {
  yaml: (text) => text,
  'yaml steps': (text) => {
    const secrets = SECRETS.filter((name) => text.includes(name));
    return `${HEADER}${INPUTS}secrets: [${secrets.join(', ')}]\nsteps:\n${indented(text)}`;
  },
  'yaml top': (text) => {
    const steps = /^steps:/m.test(text) ? '' : 'steps:\n  - name: one\n    node: step.log(1)\n';
    return `${HEADER}${INPUTS}${steps}${text}`;
  },
  'yaml fields': (text) =>
    `${HEADER}types: { Person: { name: string } }\ninputs:\n${indented(text)}steps:\n  - name: one\n    node: step.log(1)\n`,
};

for (const [info, wrap] of Object.entries(WHOLE)) {
  test(`what is fenced as ${info} compiles without a finding`, () => {
    assert.deepEqual(
      ofKind(info).flatMap((block) => findings(wrap(block.text), block)),
      [],
    );
  });
}

test('no block is of a kind that nothing looks at', () => {
  const known = [...Object.keys(WHOLE), 'yaml inputs', 'json inputs', 'text expressions'];
  assert.deepEqual(
    blocks.filter(({ info }) => !known.includes(info)).map(({ at, info }) => `${at} ${info}`),
    [],
  );
});

/** The value an expression has with the page's inputs, or the code it is refused with. */
function outcomeOf(expression: string, types: string, inputs: JsonObject): unknown {
  const quoted = JSON.stringify(`=${expression}`);
  const steps = 'steps:\n  - name: one\n    node: step.log(1)\n';
  const { method, diagnostics } = compileMethod(
    `${HEADER}inputs:\n${indented(types)}${steps}result: { value: ${quoted} }\n`,
  );
  const value = method?.result.get('value');
  if (value === undefined) return diagnostics[0]?.code;
  return evaluate(value, { inputs, run: { id: 'r', started_at: '', version_id: 'v' }, steps: {} });
}

test('every expression has the value beside it', () => {
  const types = ofKind('yaml inputs')[0]?.text ?? '';
  const inputs = JSON.parse(ofKind('json inputs')[0]?.text ?? '{}') as JsonObject;
  const wrong: string[] = [];
  for (const { text, at } of ofKind('text expressions')) {
    for (const line of text.trimEnd().split('\n')) {
      const [, expression = '', wanted = ''] = /^(.*?)\s+\/\/ (.*)$/.exec(line) ?? [];
      assert.notEqual(wanted, '', `${at}: ${line} has no value`);
      const value = outcomeOf(expression, types, inputs);
      const shown = /^M\d{3}$/.test(wanted) ? wanted : JSON.stringify(JSON.parse(wanted));
      const given = typeof value === 'string' && value === wanted ? value : JSON.stringify(value);
      if (given !== shown) wrong.push(`${at}: ${expression} is ${given}, not ${shown}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('every method of lists and texts has an example', () => {
  const shown = ofKind('text expressions')
    .map(({ text }) => text)
    .join('');
  const missing = [...LIST_METHODS.keys(), ...TEXT_METHODS.keys()].filter((name) => !shown.includes(`.${name}(`));
  assert.deepEqual(missing, []);
});

test('the page names every key of every table', () => {
  const tables = Object.values(keyTables).filter((table): table is keyTables.KeyTable => 'foreign' in table);
  assert.ok(tables.length > 10);
  // What browser and agent take is not for users yet.
  const keys = tables.filter(({ what }) => what !== 'browser' && what !== 'agent').flatMap((table) => table.keys);
  const named = new Set(page.text.match(/[a-z][a-z_]*/g));
  assert.deepEqual(
    [...new Set(keys)].filter((key) => !named.has(key)),
    [],
  );
});
