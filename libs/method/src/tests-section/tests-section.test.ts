// The method's own tests as they are compiled: accepted forms, and each way a name or value can be wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMethod } from '../compile.ts';
import { evaluate } from '../evaluate.ts';

const METHOD = `format: method/2
name: refund-order
inputs: { order_id: string, amount: number 1.., note?: string, day: date = 2026-01-01, scan?: file }
types: { Line: { sku: string, count: integer 0.. } }
secrets: [SHOP_TOKEN]
steps:
  - name: order
    http: { get: "https://shop.example/\${inputs.order_id}", auth: { bearer: SHOP_TOKEN } }
    out: { total: number, lines: list<Line> 1..3, mail: email | null, scan?: file, code: "string /^[A-Z]+$/ = AB" }
  - name: approval
    if: inputs.amount > 100
    ask: Refund?
    out: { decision: [approve, reject] }
  - name: pages
    repeat: { until: out.next == null, max: 5 }
    http: { get: https://shop.example/pages }
    out: { next: string | null }
  - name: each_line
    each: steps.order.lines
    steps:
      - name: put
        http: { put: https://shop.example/line }
        out: { id: string }
  - name: both
    parallel:
      - name: left
        http: { get: https://shop.example/left }
      - name: right
        http: { get: https://shop.example/right }
  - name: sane
    check:
      - The total is positive: steps.order.total > 0
on_failure:
  - name: tell
    http: { post: https://chat.example/, json: { text: =failure.message } }
result: { total: =steps.order.total, decision: =steps.approval?.decision }
`;

const ORDER = 'order: { total: 5, lines: [{ sku: a, count: 1 }], mail: null }';
const INPUTS = 'inputs: { order_id: o1, amount: 500 }';

function compiled(tests: string) {
  return compileMethod(`${METHOD}tests:\n${tests}\n`);
}

/** Code, place and hint of each finding of one test with the given lines. */
function findings(...lines: readonly string[]): string[] {
  const given = ['- name: one', ...lines.map((line) => `  ${line}`)];
  return compiled(given.join('\n')).diagnostics.map(({ code, path, hint }) => `${code} ${path} ${hint ?? ''}`.trim());
}

/** The one finding of a test whose mock holds the given entry. */
function mock(entry: string): string[] {
  return findings(INPUTS, `mock: { ${entry} }`);
}

test('a test is read with full paths for its steps', () => {
  const { method, diagnostics } = compiled(`  - name: a rejected refund does nothing
    inputs: { order_id: o1, amount: 500, scan: { $file: text } }
    secrets: { SHOP_TOKEN: made-up }
    mock:
      ${ORDER}
      pages: [{ next: b }, { $error: { kind: http, status: 503 } }]
      "each_line[1]/put": { id: x }
      left: {}
      tell: {}
    answers: { approval: { decision: reject } }
    expect:
      status: succeeded
      result: { decision: reject }
      skipped: [left]
      checks_failed: []
      that:
        - The total is kept: result.total == inputs.amount / 100 && steps.order.total == result.total`);
  assert.deepEqual(diagnostics, []);
  const [only] = method?.tests ?? [];
  assert.ok(only);
  assert.deepEqual([only.name, only.line], ['a rejected refund does nothing', 38]);
  assert.deepEqual(only.inputs, { order_id: 'o1', amount: 500, scan: { $file: 'text' } });
  assert.deepEqual([...only.secrets], [['SHOP_TOKEN', 'made-up']]);
  assert.deepEqual([...only.mock.keys()], ['order', 'pages', 'each_line[1]/put', 'both/left', 'on_failure/tell']);
  assert.deepEqual([...only.answers], [['approval', { decision: 'reject' }]]);
  const { that, ...expected } = only.expect;
  assert.deepEqual(expected, {
    status: 'succeeded',
    result: { decision: 'reject' },
    skipped: ['both/left'],
    failedStep: null,
    checksFailed: [],
  });
  const [check] = that;
  assert.ok(check);
  const scope = { run: { id: 'r', started_at: '', version_id: 'v' }, inputs: { amount: 500 } };
  assert.equal(evaluate(check.that, { ...scope, steps: { order: { total: 5 } }, result: { total: 5 } }), true);
});

test('a test needs nothing but its name and the inputs that have no default', () => {
  const { method, diagnostics } = compiled(`  - name: one\n    ${INPUTS}`);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(method?.tests[0]?.expect, {
    status: null,
    result: null,
    skipped: [],
    failedStep: null,
    checksFailed: [],
    that: [],
  });
});

const MOCKS: readonly (readonly [entry: string, ...found: string[]])[] = [
  ['ordr: {}', 'M901 tests[0].mock.ordr did you mean "order"?'],
  ['approval: { decision: approve }', 'M901 tests[0].mock.approval put it under answers:'],
  ['both: {}', 'M901 tests[0].mock.both mock the steps inside'],
  ['sane: {}', 'M901 tests[0].mock.sane checks always run: mock the steps they read'],
  ['"left/right": {}', 'M901 tests[0].mock.left/right did you mean "both/right"?'],
  ['"order[0]": {}', 'M901 tests[0].mock.order[0] write  order'],
  ['left: {}, both/left: {}', 'M003 tests[0].mock.both/left remove one of the two'],
  ['order: { total: 5, lines: [{ sku: a, count: 1 }] }', 'M902 tests[0].mock.order.mail'],
  ['order: { totl: 5 }', 'M902 tests[0].mock.order.totl did you mean "total"?'],
  ['order: { total: "5", lines: [], mail: null }', 'M902 tests[0].mock.order.total'],
  ['order: { total: 5, lines: [], mail: null }', 'M902 tests[0].mock.order.lines'],
  [
    'order: { total: 5, lines: [{ sku: 7, count: 1 }], mail: null }',
    'M902 tests[0].mock.order.lines[0].sku put it in quotes to make it text',
  ],
  ['order: { total: 5, lines: [{ sku: a, count: -1 }], mail: null }', 'M902 tests[0].mock.order.lines[0].count'],
  ['order: { total: 5, lines: [{ sku: a, count: 1 }], mail: ann }', 'M902 tests[0].mock.order.mail'],
  ['order: { total: 5, lines: [{ sku: a, count: 1 }], mail: null, code: ab }', 'M902 tests[0].mock.order.code'],
  [
    'order: { total: 5, lines: [{ sku: a, count: 1 }], mail: null, scan: text }',
    'M902 tests[0].mock.order.scan write a file as  { $file: its text }',
  ],
  ['order: [{ total: 5 }]', 'M902 tests[0].mock.order'],
  ['order: 5', 'M902 tests[0].mock.order'],
  ['left: { a: 1 }', 'M902 tests[0].mock.left.a'],
  ['pages: { next: null }', 'M902 tests[0].mock.pages write  pages: [first, second]  or  "pages[0]": first'],
  ['pages: [{ next: 1 }]', 'M902 tests[0].mock.pages[0].next put it in quotes to make it text'],
  ['put: { id: 1 }', 'M902 tests[0].mock.put.id put it in quotes to make it text'],
  ['order: { $error: 503 }', 'M902 tests[0].mock.order.$error for example  { $error: { kind: http, status: 503 } }'],
  ['order: { $error: { status: 503 } }', 'M102 tests[0].mock.order.$error add  kind: http'],
  ['order: { $error: { kind: htp } }', 'M105 tests[0].mock.order.$error.kind did you mean "http"?'],
  [
    'order: { $error: { kind: exit, status: 500 } }',
    'M902 tests[0].mock.order.$error.status remove it, or write  kind: http',
  ],
  [
    'order: { $error: { kind: http, status: 42 } }',
    'M803 tests[0].mock.order.$error.status a status of HTTP, such as 503',
  ],
  [
    'order: { $error: { kind: exit, body: no } }',
    'M902 tests[0].mock.order.$error.body remove it, or write  kind: http',
  ],
  ['order: { $error: { body: no } }', 'M102 tests[0].mock.order.$error add  kind: http'],
  ['order: { $error: { kind: http, body: [no] } }', 'M104 tests[0].mock.order.$error.body'],
  [
    'order: { $error: { kind: http, headers: no } }',
    'M104 tests[0].mock.order.$error.headers for example  headers: { retry-after: "5" }',
  ],
  ['order: { $error: { kind: http, staus: 503 } }', 'M101 tests[0].mock.order.$error.staus did you mean "status"?'],
  [
    'order: { $error: { kind: exit }, total: 5 }',
    'M902 tests[0].mock.order.total a step fails or has an out, not both',
  ],
];

for (const [entry, ...found] of MOCKS) {
  test(`mock { ${entry} } is refused`, () => assert.deepEqual(mock(entry), found));
}

test('good mocks of every form are taken', () => {
  for (const entry of [
    ORDER,
    'order: { total: 5, lines: [{ sku: a, count: 1 }], mail: a@b.example, scan: { $file: "a,b" }, code: XY }',
    'order: { total: 5, lines: [{ sku: a, count: 1 }], mail: null, scan: null }',
    'order: { $error: { kind: network, code: ECONNREFUSED, message: no } }',
    'order: { $error: { kind: http, status: 503, reason: Busy, headers: { retry-after: 5 }, body: "later" } }',
    'pages: [{ next: a }, null, { $error: { kind: timeout } }]',
    'pages: { $error: { kind: timeout } }',
    '"pages[0]": { next: null }',
    'put: { id: a }',
    'put: [{ id: a }, { id: b }]',
    '"each_line/put": { id: a }',
    'left:',
  ])
    assert.deepEqual(mock(entry), [], entry);
});

const OTHERS: readonly (readonly [line: string, ...found: string[]])[] = [
  [
    'inputs: { order_id: o1, amout: 5 }',
    'M902 tests[0].inputs.amount',
    'M901 tests[0].inputs.amout did you mean "amount"?',
  ],
  ['inputs: { order_id: o1, amount: 0 }', 'M902 tests[0].inputs.amount'],
  ['inputs: [o1]', 'M902 tests[0].inputs.order_id', 'M902 tests[0].inputs for example  inputs: { amount: 5 }'],
  ['secrets: { SHOP_TOKN: x }', 'M901 tests[0].secrets.SHOP_TOKN did you mean "SHOP_TOKEN"?'],
  ['secrets: { SHOP_TOKEN: }', 'M104 tests[0].secrets.SHOP_TOKEN make one up: tests never need a real one'],
  ['answers: { order: {} }', 'M901 tests[0].answers.order put it under mock:'],
  ['answers: { approval: { decision: maybe } }', 'M902 tests[0].answers.approval.decision'],
  ['mocks: {}', 'M101 tests[0].mocks did you mean "mock"?'],
  ['expect: { state: failed }', 'M101 tests[0].expect.state did you mean "status"?'],
  ['expect: { status: done }', 'M105 tests[0].expect.status write  status: succeeded'],
  ['expect: { result: { totl: 5 } }', 'M901 tests[0].expect.result.totl did you mean "total"?'],
  ['expect: { skipped: [aproval] }', 'M901 tests[0].expect.skipped[0] did you mean "approval"?'],
  ['expect: { skipped: approval }', 'M902 tests[0].expect.skipped for example  skipped: [refund]'],
  ['expect: { failed_step: ordr }', 'M901 tests[0].expect.failed_step did you mean "order"?'],
  [
    'expect: { checks_failed: [The total is positiv] }',
    'M901 tests[0].expect.checks_failed[0] did you mean "The total is positive"?',
  ],
  [
    'expect: { that: [result.total > 1] }',
    'M106 tests[0].expect.that[0] for example  - The total is positive: out.total > 0',
  ],
];

for (const [line, ...found] of OTHERS) {
  test(`${line} is refused`, () => {
    const lines = line.startsWith('inputs') ? [line] : [INPUTS, line];
    assert.deepEqual(findings(...lines), found);
  });
}

test('of a run that does not finish every step and value may be absent', () => {
  const that = (status: string, check: string) =>
    findings(INPUTS, `expect: { status: ${status}, that: [{ It: "${check}" }] }`);
  assert.deepEqual(that('succeeded', 'result.total > 1 && steps.order.total > 1'), []);
  assert.match(that('failed', 'result.total > 1').join(), /^M405/);
  assert.match(that('failed', 'steps.order.total > 1').join(), /^M405/);
  assert.deepEqual(that('failed', 'steps.order == null && result.total == null'), []);
  assert.match(that('succeeded', 'steps.ordr == null').join(), /^M201/);
  assert.match(that('succeeded', 'out.total == 1').join(), /^M403/);
});

test('a check made in code may be expected by any name', () => {
  const source = `format: method/2\nname: ab\nsteps:\n  - name: one\n    node: step.check("Fine", true)\ntests:\n  - name: t\n    expect: { checks_failed: [Fine] }\n`;
  assert.deepEqual(compileMethod(source).diagnostics, []);
});

test('tests have names of their own, and there are at most a hundred', () => {
  const codesOf = (tests: string) => compiled(tests).diagnostics.map(({ code, path }) => `${code} ${path}`);
  assert.deepEqual(codesOf(`- ${INPUTS}`), ['M102 tests[0].name']);
  assert.deepEqual(codesOf(`- { name: a, ${INPUTS} }\n- { name: a, ${INPUTS} }`), ['M204 tests[1]']);
  assert.deepEqual(codesOf(`- { name: ${'a'.repeat(121)}, ${INPUTS} }`), ['M203 tests[0]']);
  assert.deepEqual(codesOf('- text'), ['M902 tests[0]']);
  const many = Array.from({ length: 101 }, (_, n) => `- { name: t${n}, ${INPUTS} }`).join('\n');
  assert.deepEqual(codesOf(many), ['M803 tests']);
});
