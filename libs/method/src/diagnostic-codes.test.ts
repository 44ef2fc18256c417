// Every diagnostic code this form of the language can raise, provoked once by a small source.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMethod } from './compile.ts';

interface Case {
  readonly code: string;
  readonly source: string | Uint8Array;
  /** `line:column` of the finding, where it matters that it points at the right characters. */
  readonly at?: string;
  readonly hint?: RegExp;
  readonly severity?: 'warning';
}

const HEADER = 'format: method/2\nname: ab\n';
const STEP =
  'steps:\n  - name: one\n    node: "return { n: 1 }"\n    out: { n: integer, note?: string, items: list<string>, kind: [red, blue] }\n';
const method = (tail: string): string => `${HEADER}${tail}`;
const inputs = (fields: string): string => method(`inputs:\n${fields}\n${STEP}`);
const step = (body: string): string =>
  method(
    `secrets: [API_TOKEN]\ninputs: { amount: number, note?: string, blob: object }\n${STEP}  - name: two\n${body}\n`,
  );
const condition = (text: string): string => step(`    if: ${text}\n    node: f()`);
const http = (text: string, out = ''): string => step(`    http: { ${text} }\n${out}`);

// Some 11,000 types in 800 fields.
const NESTED = Array.from({ length: 800 }, (_, n) => `      f${n}: ${'list<'.repeat(13)}text${'>'.repeat(13)}\n`).join(
  '',
);

const CASES: readonly Case[] = [
  { code: 'M001', source: method('title: a: b'), at: '3:8', hint: /quote the value/ },
  { code: 'M001', source: method('steps:\n  - name: a\n    if: "x" == y'), hint: /="x" == y/ },
  { code: 'M001', source: method(`x-a: ${'['.repeat(100)}`) },
  { code: 'M002', source: `${HEADER}# ${'x'.repeat(262_144)}` },
  { code: 'M002', source: new Uint8Array([0x66, 0xff, 0xfe]) },
  { code: 'M002', source: method('title: a\u0001b'), at: '3:9' },
  { code: 'M002', source: method('title: "a\\0b"') },
  { code: 'M003', source: method(`name: cd\n${STEP}`), at: '3:1' },
  { code: 'M004', source: method('steps:\n\t- name: a'), at: '4:1' },
  { code: 'M005', source: condition('!steps.one'), at: '10:9', hint: /if: =!steps\.one/ },
  { code: 'M005', source: condition('!steps.one && true'), at: '10:9', hint: /if: =!steps\.one && true/ },
  { code: 'M005', source: step('    node: f()\n    in: { a: !steps.one, b: 1 }'), at: '11:14', hint: /put =/ },
  { code: 'M001', source: condition('!steps.one || "a"'), hint: /if: =!steps\.one \|\| "a"/ },
  { code: 'M006', source: '- a\n- b' },
  { code: 'M006', source: '' },
  { code: 'M006', source: `${HEADER}---\n${HEADER}` },
  { code: 'M007', source: method('title: &a text') },
  { code: 'M007', source: method('<<: { title: x }') },
  { code: 'M101', source: method(`titel: x\n${STEP}`), at: '3:1', hint: /"title"/ },
  { code: 'M101', source: step('    node: f()\n    when: true'), hint: /"if"/ },
  { code: 'M101', source: step('    node: f()\n    timeout: 3s'), hint: /limits: \{ timeout: … \}/ },
  { code: 'M102', source: `format: method/2\n${STEP}` },
  { code: 'M102', source: `name: ab\n${STEP}` },
  { code: 'M102', source: HEADER },
  { code: 'M102', source: step('    ask: { details: x }\n    out: { a: string }') },
  { code: 'M103', source: `format: method/3\nname: ab\n${STEP}`, at: '1:9', hint: /method\/2/ },
  { code: 'M104', source: condition('[a]') },
  { code: 'M105', source: http('get: https://a.example, auth: { basic: API_TOKEN }') },
  { code: 'M107', source: method('steps: []') },
  { code: 'M107', source: method('steps: [text]') },
  { code: 'M108', source: step('    title: nothing to do') },
  { code: 'M109', source: step('    node: f()\n    ask: Really?') },
  { code: 'M111', source: step('    ask: Really?\n    in: [inputs.amount]\n    out: { a: string }') },
  { code: 'M111', source: step('    ask: Really?\n    out: { a: string }\n    limits: { memory_mb: 100 }') },
  { code: 'M112', source: step('    node: ""') },
  { code: 'M114', source: step('    node: |\n      const a = 1\n        return { a:: 2 }'), at: '12:20' },
  { code: 'M114', source: step('    node: "return {"'), at: '10:20' },
  { code: 'M114', source: step("    node: 'const n: number = 1'"), at: '10:19', hint: /TypeScript/ },
  { code: 'M114', source: step("    node: 'return { a: 1 } }'"), at: '10:29' },
  { code: 'M114', source: step('    node: |\n      f(n)\n      const n = 2\n    in: [steps.one.n]'), at: '12:13' },
  { code: 'M114', source: method(`lib:\n  node: |\n    export const a = b c\n${STEP}`), at: '5:24' },
  { code: 'M114', source: step('    node: |\n      export const a = 1'), at: '11:7' },
  { code: 'M114', source: step('    node: "f(\\n}"'), at: '10:11' },
  { code: 'M201', source: condition('steps.ona.n > 1'), hint: /"one"/ },
  {
    code: 'M201',
    source: method('steps:\n  - name: a\n    if: steps.b.n > 1\n    node: f()\n  - name: b\n    node: f()'),
    at: '5:15',
  },
  { code: 'M202', source: condition('inputs.amout > 1'), at: '10:16', hint: /"amount"/ },
  { code: 'M203', source: `format: method/2\nname: Not A Name\n${STEP}` },
  { code: 'M203', source: step('    node: f()\n    in: { class: 1 }') },
  { code: 'M204', source: method(`${STEP}  - name: one\n    node: f()`) },
  { code: 'M204', source: step('    node: n\n    in: [steps.one.n, steps.one.n]') },
  { code: 'M301', source: inputs('  a:') },
  { code: 'M302', source: inputs('  a: strng'), at: '4:6', hint: /"string"/ },
  { code: 'M302', source: inputs('  a: secret') },
  { code: 'M302', source: step('    ask: Really?\n    out: { a: file }') },
  { code: 'M302', source: step('    ask: Really?\n    out: { a: list<secret> }') },
  { code: 'M303', source: inputs('  a: string?'), hint: /name\?: string/ },
  { code: 'M304', source: inputs('  a: integer 5..1') },
  { code: 'M304', source: inputs('  a: boolean 1..2') },
  { code: 'M304', source: method('x-a: 12345678901234567890') },
  { code: 'M305', source: inputs('  a: string /(?=x)/') },
  { code: 'M305', source: condition('="a".matches("(")') },
  { code: 'M306', source: inputs('  a: object | map<string>') },
  { code: 'M307', source: inputs('  a: string =') },
  { code: 'M308', source: inputs('  a: [string]'), hint: /list<string>/ },
  { code: 'M309', source: inputs('  a?: string = x'), severity: 'warning' },
  { code: 'M310', source: step('    node: f()\n    out: string') },
  { code: 'M311', source: inputs('  a: integer = x') },
  { code: 'M311', source: inputs('  a: list<string> = [a, b]'), hint: /as JSON, such as {2}\["a", "b"\]/ },
  { code: 'M312', source: method(`types: { Node: { next: Node } }\n${STEP}`) },
  {
    code: 'M313',
    source: inputs(`  a: { $schema: { items: { anyOf: [${'{ type: string }, '.repeat(500)}{}] } } }`),
    hint: /fewer branches/,
  },
  {
    code: 'M313',
    source: inputs(
      `  a:\n    $schema:\n      anyOf: [${"{ $ref: '#/$defs/a' }, ".repeat(60)}{}]\n      $defs: { a: { const: ${'x'.repeat(6_000)} } }`,
    ),
  },
  { code: 'M313', source: method(`inputs:\n${NESTED}${STEP}`), hint: /fewer fields/ },
  { code: 'M313', source: method(`types:\n  T:\n${NESTED}inputs: { a: T }\n${STEP}`) },
  { code: 'M313', source: step(`    node: f()\n    out:\n${NESTED}`) },
  { code: 'M313', source: step(`    ask: Go?\n    out:\n${NESTED}`) },
  { code: 'M313', source: step(`    http: { get: "https://shop.example" }\n    out:\n${NESTED}`) },
  { code: 'M401', source: condition('inputs.amount >'), hint: /too early/ },
  { code: 'M401', source: step('    ask: Pay ${inputs.amount\n    out: { a: string }'), at: '10:14' },
  { code: 'M402', source: condition('inputs.amount === 1'), hint: /==/ },
  { code: 'M402', source: condition('(x => { return x })') },
  { code: 'M403', source: condition('input.amount > 1'), hint: /"inputs"/ },
  { code: 'M403', source: condition('rounded(inputs.amount) > 1') },
  { code: 'M404', source: condition('steps.one.items'), hint: /length > 0/ },
  { code: 'M405', source: condition('inputs.note.length > 1'), hint: /!= null/ },
  { code: 'M406', source: condition('inputs.amount + "x" == "1x"') },
  {
    code: 'M407',
    source: step('    ask: Shall we take ${inputs.blob}?\n    out: { a: string }'),
    at: '10:26',
    hint: /json\(/,
  },
  { code: 'M408', source: condition('steps.one.kind == "rad"'), hint: /"red"/ },
  {
    code: 'M409',
    source: http('post: https://a.example, json: { a: inputs.amount }'),
    severity: 'warning',
    hint: /=inputs\.amount/,
  },
  { code: 'M504', source: step('    node: f(n)\n    in: [steps.one.n + 1]') },
  { code: 'M505', source: step('    node: f(`${inputs.amount}`)'), severity: 'warning' },
  { code: 'M506', source: step('    node: return 5'), severity: 'warning' },
  { code: 'M507', source: step('    node: f()\n    in: [steps.one.n]'), severity: 'warning' },
  { code: 'M508', source: http('get: https://a.example, take: { x: response.status }', '    out: { y?: integer }') },
  { code: 'M509', source: http('query: { a: 1 }') },
  { code: 'M509', source: http('get: https://a.example, post: https://a.example') },
  { code: 'M510', source: http('get: example.com/x'), hint: /https/ },
  { code: 'M511', source: http('post: https://a.example, json: 1, text: x') },
  { code: 'M511', source: http('get: https://a.example, json: 1') },
  { code: 'M512', source: step('    ask: Really?') },
  { code: 'M601', source: method(`secrets: [token]\n${STEP}`) },
  { code: 'M601', source: method(`secrets: [PATH]\n${STEP}`) },
  { code: 'M602', source: http('get: https://a.example, auth: { bearer: API_TOKN }'), hint: /"API_TOKEN"/ },
  { code: 'M602', source: step('    node: f()\n    secrets: [OTHER]') },
  { code: 'M603', source: step('    node: f(process.env.API_TOKEN)'), hint: /secrets: \[API_TOKEN\]/ },
  { code: 'M604', source: http('get: https://a.example, headers: { Authorization: Bearer abc }') },
  { code: 'M604', source: http('get: "https://user:pass@a.example/"') },
  { code: 'M605', source: method(`secrets: [UNUSED]\n${STEP}`), severity: 'warning', at: '3:11' },
  { code: 'M606', source: method(`secrets: [API_TOKEN]\n${STEP}result: { a: =secrets.API_TOKEN }`) },
  { code: 'M606', source: step('    ask: Is ${secrets.API_TOKEN} right?\n    out: { a: string }') },
  { code: 'M606', source: http('get: "https://a.example/${secrets.API_TOKEN}"') },
  {
    code: 'M606',
    source: method('steps:\n  - name: a\n    node: f()\n    out: { t: secret }\nresult: { a: =steps.a.t }'),
  },
  { code: 'M801', source: step('    node: f()\n    limits: { timeout: 5 }'), hint: /5s/ },
  { code: 'M802', source: step('    node: f()\n    limits: { timeout: 5s, timeout_ms: 5 }') },
  { code: 'M803', source: step('    node: f()\n    limits: { output_kb: 5000 }') },
  { code: 'M804', source: step(`    node: |\n      ${'f();'.repeat(17_000)}`) },
  {
    code: 'M805',
    source: method(`steps:\n${Array.from({ length: 201 }, (_, n) => `  - name: s${n}\n    node: f()\n`).join('')}`),
  },
  { code: 'U000', source: 'format: workflow/1\nworkflow: Old one\n', severity: 'warning' },
];

for (const { code, source, at, hint, severity = 'error' } of CASES) {
  const shown =
    typeof source === 'string' ? source.slice(0, 300).split('\n').slice(-3).join(' ⏎ ').slice(-90) : 'bytes';
  test(`${code} is raised for: ${shown}`, () => {
    const { method: compiled, diagnostics } = compileMethod(source);
    const found = diagnostics.filter((diagnostic) => diagnostic.code === code);
    assert.ok(
      found.length > 0,
      `raised instead: ${diagnostics.map((d) => `${d.code} ${d.message}`).join('; ') || 'nothing'}`,
    );
    const [first] = found;
    assert.equal(first?.severity, severity);
    if (at !== undefined) assert.equal(`${first?.line}:${first?.column}`, at);
    if (hint !== undefined) assert.match(first?.hint ?? '', hint);
    assert.equal(compiled === null, severity === 'error' || code === 'U000');
    for (const d of diagnostics) {
      assert.ok(
        d.line >= 1 && d.column >= 1 && (d.end_line > d.line || d.end_column >= d.column),
        'positions are 1-based and in order',
      );
    }
  });
}

test('a small source raises no other error than the one it is about', () => {
  for (const { source, code } of CASES) {
    const errors = compileMethod(source).diagnostics.filter((d) => d.severity === 'error' && d.code !== code);
    assert.deepEqual(errors, [], code);
  }
});

test('an invalid YAML value is the only finding: nothing is guessed about the rest', () => {
  const lines = ['if: !steps.one', 'each: !steps.one', 'wait: *one', 'check: [!a b]', 'retry: !x { max: 3 }'];
  for (const line of lines) {
    const { method, diagnostics } = compileMethod(
      `format: method/2\nname: ab\nsteps:\n  - name: one\n    node: f()\n  - name: two\n    ${line}\n`,
    );
    assert.equal(method, null);
    assert.deepEqual(
      diagnostics.map(({ code, line: at }) => `${code} ${at}`).filter((text) => !/^M00[157] 7$/.test(text)),
      [],
      line,
    );
  }
});
