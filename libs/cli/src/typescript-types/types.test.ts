import { equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JsonSchema } from '@methods/method/json';
import { CliFolder } from '../cli.fixture.ts';
import { typescriptOfSchema } from './typescript-of-schema.ts';

const TSC = fileURLToPath(new URL('../../../../node_modules/.bin/tsc', import.meta.url));
const run = promisify(execFile);

const METHOD = `format: method/2
name: refund-order
title: Refund an order
types:
  Line: { sku: string, count: integer 1..99 }
inputs:
  amount: { $type: number 0.., $title: Amount, $description: "In euros, */ no more" }
  kind: [full, partial]
  lines: list<Line>
  note?: string
  reply_to: email = a@example.com
  parent: Line | null
  labels: map<string>
  anything: any
steps:
  - name: sums
    in: [inputs.amount, inputs.lines]
    node: "return { total: amount, first: lines[0], note: null }"
    out: { total: number, first: Line, note: string | null }
result:
  total: =steps.sums.total
  first: =steps.sums.first
  note: =steps.sums.note
`;

const folder = await CliFolder.make({ 'refund.method': METHOD });
after(() => folder.remove());

const plain = (schema: JsonSchema) => typescriptOfSchema(schema, (name) => name);

test('each kind of schema has its type', () => {
  for (const [schema, type] of [
    [{}, 'unknown'],
    [{ type: 'integer', minimum: 1 }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ enum: ['a', 'b', null] }, '"a" | "b" | null'],
    [{ type: 'string', enum: ['a'] }, '"a"'],
    [{ const: 3 }, '3'],
    [{ type: 'array', items: { enum: ['a | b', 1] } }, '("a | b" | 1)[]'],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }], items: false }, '[(string)?]'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [name: string]: number }'],
    [{ type: 'object' }, '{ [name: string]: unknown }'],
    [{ type: 'object', properties: {}, additionalProperties: false }, 'Record<string, never>'],
    [{ $ref: '#/$defs/Line' }, 'Line'],
    [{ $ref: 'https://example.com/x' }, 'unknown'],
    [{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, 'string | string[]'],
    [{ anyOf: [{ type: 'string' }, {}] }, 'unknown'],
    [{ allOf: [{ $ref: '#/$defs/A' }, { anyOf: [{ $ref: '#/$defs/B' }, { type: 'null' }] }] }, 'A & (B | null)'],
  ] as const) {
    equal(plain(schema as JsonSchema), type, JSON.stringify(schema));
  }
});

test('fields that need not be given are optional, and other names are quoted', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' }, 'b-c': { type: 'number', default: 3 } },
    required: ['a'],
    additionalProperties: false,
  };
  equal(plain(schema), '{\n  a: string;\n  /** default 3 */\n  "b-c"?: number;\n}');
});

test('an endlessly nested schema is cut', () => {
  let schema: JsonSchema = { type: 'string' };
  for (let depth = 0; depth < 1_000; depth++) schema = { type: 'array', items: schema };
  ok(plain(schema).startsWith('unknown['));
});

test('the types of a file accept exactly the inputs of the method', async () => {
  const { code, stdout, stderr } = await folder.methods(['types', 'refund.method', '-o', 'refund.ts']);
  equal(stderr, '');
  equal(code, 0);
  equal(stdout, 'Wrote refund.ts.\n');
  const written = await folder.read('refund.ts');
  match(written, /^\/\/ Types of refund\.method, made by: methods types refund\.method\n/);
  match(written, /export type RefundOrderLine = \{/);
  match(written, /In euros, \*\\\/ no more/);
  await folder.write(
    'use.ts',
    `import type { RefundOrderInputs, RefundOrderResult } from './refund.ts';
const line = { sku: 'a', count: 1 };
export const least: RefundOrderInputs = { amount: 1, kind: 'full', lines: [line], parent: null, labels: {}, anything: 1 };
export const all: RefundOrderInputs = { ...least, note: 'n', reply_to: 'x@example.com', parent: line, labels: { a: 'b' } };
export const result: RefundOrderResult = { total: 1, first: line, note: null };
// @ts-expect-error
export const other: RefundOrderInputs = { ...least, kind: 'some' };
// @ts-expect-error
export const more: RefundOrderInputs = { ...least, amuont: 1 };
// @ts-expect-error
export const missing: RefundOrderResult = { total: 1, first: line };
`,
  );
  await run(TSC, ['--noEmit', '--strict', '--allowImportingTsExtensions', 'use.ts'], { cwd: folder.dir });
});

test('without -o the types go to stdout, with --json into the document', async () => {
  const { stdout } = await folder.methods(['types', 'refund.method']);
  match(stdout, /export type RefundOrderResult = \{/);
  const { document } = await folder.json<{ method: string; file: null; types: string }>(['types', 'refund.method']);
  equal(document.method, 'refund-order');
  equal(document.types, stdout);
});

test('a file without types to show is refused with a hint', async () => {
  await folder.write('old.method', 'format: workflow/1\nname: old\nsteps: []\n');
  const old = await folder.methods(['types', 'old.method']);
  equal(old.code, 1);
  match(old.stderr, /error: old\.method is in the format workflow\/1\nhint: methods upgrade old\.method --write\n/);
  const none = await folder.methods(['types', 'none.method']);
  match(none.stderr, /error: cannot read none\.method: there is no such file/);
});
