import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compileMethod } from '@methods/method/compile';
import type { JsonSchema } from '@methods/method/json';
import { CliFolder } from '../cli.fixture.ts';
import { shapeOf } from './method-shape.ts';
import { pythonFile } from './python-types.ts';
import { typescriptFile, typescriptOfSchema } from './typescript-types.ts';

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
  - name: check
    steps:
      - name: decide
        ask: { question: "Refund it?" }
        out:
          verdict: [yes, no]
          lines?: list<Line>
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

const METHOD_ID = 'wf_01kac0t6xgy9s2m4n8p3q5r7v1';
const shape = () => {
  const { method } = compileMethod(METHOD);
  ok(method !== null);
  return shapeOf(method, METHOD_ID);
};

test('the types of a saved method type the calls of a client by its id', async () => {
  await folder.write('refund.d.ts', typescriptFile(shape(), 'Types'));
  // The part of the client library that the types are merged with.
  const library = join(folder.dir, 'node_modules/@methods/client');
  await mkdir(library, { recursive: true });
  await folder.write('node_modules/@methods/client/package.json', '{"name":"@methods/client","types":"./index.d.ts"}');
  await folder.write(
    'node_modules/@methods/client/index.d.ts',
    `export interface MethodTypes {}
export type MethodName = keyof MethodTypes | (string & {});
type Of<M, Part extends string, Else> = M extends keyof MethodTypes
  ? MethodTypes[M] extends Record<Part, infer Value> ? Value : Else : Else;
export declare function run<M extends MethodName>(options: {
  method: M;
  inputs: Of<M, 'inputs', Record<string, unknown>>;
}): Promise<{ result: Of<M, 'result', Record<string, unknown>> }>;
export type Answers<M extends MethodName> = Of<M, 'answers', never>;
`,
  );
  await folder.write(
    'call.mts',
    `import { run, type Answers } from '@methods/client';
const inputs = { amount: 1, kind: 'full', lines: [], parent: null, labels: {}, anything: 1 } as const;
export const total: number = (await run({ method: '${METHOD_ID}', inputs: { ...inputs, lines: [] } })).result.total;
export const answer: Answers<'${METHOD_ID}'>['check/decide'] = { verdict: 'yes', lines: [{ sku: 'a', count: 1 }] };
export const other = await run({ method: 'wf_other', inputs: { a: 1 } });
// @ts-expect-error
export const wrong: Answers<'${METHOD_ID}'>['check/decide'] = { verdict: 'perhaps' };
// @ts-expect-error
await run({ method: '${METHOD_ID}', inputs: { amount: 'much' } });
`,
  );
  for (const resolution of ['node16', 'bundler']) {
    const kind = resolution === 'node16' ? 'node16' : 'esnext';
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', kind, '--moduleResolution', resolution];
    await run(TSC, [...options, 'call.mts', 'refund.d.ts'], { cwd: folder.dir });
  }
});

test('the Python types accept exactly the inputs of the method', async () => {
  const { code, stderr } = await folder.methods(['types', 'refund.method', '--python', '-o', 'refund_order.py']);
  equal(stderr, '');
  equal(code, 0);
  await folder.write(
    'look.py',
    `import json, typing, refund_order as types
print(json.dumps({
    "needed": sorted(types.RefundOrderInputs.__required_keys__),
    "others": sorted(types.RefundOrderInputs.__optional_keys__),
    "hints": {name: str(hint) for name, hint in typing.get_type_hints(types.RefundOrderInputs).items()},
    "answer": sorted(types.RefundOrderCheckDecideAnswer.__required_keys__),
}))
`,
  );
  const { stdout } = await run('python3', ['look.py'], { cwd: folder.dir });
  deepEqual(JSON.parse(stdout), {
    needed: ['amount', 'anything', 'kind', 'labels', 'lines', 'parent'],
    others: ['note', 'reply_to'],
    hints: {
      amount: "<class 'float'>",
      kind: "typing.Literal['full', 'partial']",
      lines: 'typing.List[refund_order.RefundOrderLine]',
      note: "<class 'str'>",
      reply_to: "<class 'str'>",
      parent: 'typing.Optional[refund_order.RefundOrderLine]',
      labels: 'typing.Dict[str, str]',
      anything: 'typing.Any',
    },
    answer: ['verdict'],
  });
  await folder.write(
    'use.py',
    `from refund_order import RefundOrderInputs, RefundOrderLine

line: RefundOrderLine = {"sku": "a", "count": 1}
least: RefundOrderInputs = {
    "amount": 1, "kind": "full", "lines": [line], "parent": None, "labels": {}, "anything": 1,
}
least["kind"] = "some"  # type: ignore[typeddict-item]
missing: RefundOrderInputs = {"amount": 1}  # type: ignore[typeddict-item]
`,
  );
  const mypy = ['-m', 'mypy', '--strict', 'use.py'];
  // Only where mypy is installed; the module itself has been imported above.
  await run('python3', mypy, { cwd: folder.dir }).catch((error: { stderr: string }) =>
    match(error.stderr, /No module named mypy/),
  );
});

test('Python types have names for every object, and places for every name of a field', async () => {
  const inputs: JsonSchema = {
    type: 'object',
    properties: {
      'b-c': { type: 'number', description: 'one\rtwo = 1' },
      class: { type: ['string', 'null'] },
      __private: { enum: [1.5] },
      inner: { type: 'object', properties: { deep: { type: 'array', items: { type: 'object', properties: {} } } } },
      open: { type: 'object', properties: { a: {} }, additionalProperties: true },
      pair: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      tree: { $ref: '#/$defs/Dict' },
      count: { const: 3 },
    },
    required: ['b-c', 'class'],
    $defs: { Dict: { type: 'object', properties: { more: { type: 'array', items: { $ref: '#/$defs/Dict' } } } } },
  };
  const result: JsonSchema = { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'null' } } }] };
  const odd = { id: METHOD_ID, name: 'typed', title: 'Typed', inputs, result, answers: new Map() };
  await folder.write('odd.py', pythonFile(odd, 'Odd\nimport nothing'));
  const look = `import json, typing, odd
hints = {name: str(hint) for name, hint in typing.get_type_hints(odd.TypedInputs).items()}
print(json.dumps([odd.METHOD_ID, sorted(odd.TypedInputs.__required_keys__), hints, str(odd.TypedResult)]))
`;
  const { stdout } = await run('python3', ['-c', look], { cwd: folder.dir });
  deepEqual(JSON.parse(stdout), [
    METHOD_ID,
    ['b-c', 'class'],
    {
      'b-c': "<class 'float'>",
      class: 'typing.Optional[str]',
      __private: 'typing.Any',
      inner: "<class 'odd.TypedInputsInner'>",
      open: 'typing.Dict[str, typing.Any]',
      pair: 'typing.List[typing.Any]',
      tree: "<class 'odd.TypedDict2'>",
      count: 'typing.Literal[3]',
    },
    "typing.Union[str, ForwardRef('TypedResultValue')]",
  ]);
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
