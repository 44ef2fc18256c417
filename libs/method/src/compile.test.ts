// Compiling whole methods: the shapes the other parts read, defaults of limits, older spellings, flow rules.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileMethod } from './compile.ts';
import type { AskStep, CallStep, CodeStep, CompiledMethod, HttpStep } from './compiled-method.ts';
import { evaluate, type Scope } from './evaluate.ts';
import { isJsonObject } from './json.ts';

function example(name: string): CompiledMethod {
  const { method, diagnostics } = compileMethod(readFileSync(new URL(`../examples/${name}.method`, import.meta.url)));
  assert.deepEqual(diagnostics, []);
  assert.ok(method);
  return method;
}

function stepOf<K extends 'node' | 'http' | 'ask' | 'call'>(method: CompiledMethod, name: string, kind: K) {
  const step = method.steps.find((candidate) => candidate.name === name);
  assert.equal(step?.kind, kind);
  return step as Extract<CompiledMethod['steps'][number], { kind: K }>;
}

function codes(source: string): string[] {
  return compileMethod(source).diagnostics.map((diagnostic) => diagnostic.code);
}

const RUN = { id: 'run_1', started_at: '2026-01-01T00:00:00Z', version_id: 'ver_1' };
const ORDER = { charge_id: 'ch_1', customer: 'ann@example.com', total: 800, refunded: 0 };

test('refund-order compiles to its steps, schemas and limits', () => {
  const method = example('refund-order');
  assert.deepEqual([method.format, method.name, method.title], ['method/2', 'refund-order', undefined]);
  assert.deepEqual(method.features, ['ask', 'http']);
  assert.deepEqual(method.secrets[1], { name: 'STRIPE_KEY', note: 'Restricted key refunds write' });
  assert.deepEqual(method.limits, { runTimeoutMs: null, stepsMax: 1_000 });
  assert.deepEqual(method.inputSchema.required, ['order_id', 'amount', 'reason']);
  const approval: AskStep = stepOf(method, 'approval', 'ask');
  assert.equal(approval.limits.timeoutMs, 259_200_000);
  assert.equal(approval.limits.timeoutText, '3d');
  assert.equal(approval.form, approval.out?.schema);
  const refund: HttpStep = stepOf(method, 'refund', 'http');
  assert.deepEqual([refund.verb, refund.secrets, refund.limits.timeoutMs], ['post', ['STRIPE_KEY'], 30_000]);
  assert.equal(refund.limits.outputBytesMax, 262_144);
});

test('the values of refund-order follow its data', () => {
  const method = example('refund-order');
  const scope = (amount: number, steps: Scope['steps']): Scope => ({
    inputs: { order_id: 'ord_1', amount, reason: 'late' },
    run: RUN,
    steps,
  });
  const asked = scope(150, { order: ORDER, approval: { decision: 'reject', note: 'No' }, refund: null });
  assert.equal(
    evaluate(stepOf(method, 'approval', 'ask').question, asked),
    'Refund 150 EUR to ann@example.com (late)?',
  );
  const refund = stepOf(method, 'refund', 'http');
  assert.ok(refund.condition);
  assert.equal(evaluate(refund.condition, asked), false);
  assert.equal(evaluate(refund.condition, scope(50, { order: ORDER, approval: null })), true);
  assert.ok(refund.body.kind === 'form');
  assert.deepEqual(evaluate(refund.body.value, asked), { charge: 'ch_1', amount: 15_000 });
  const result = Array.from(method.result, ([name, value]) => [name, evaluate(value, asked)]);
  assert.deepEqual(Object.fromEntries(result), { refunded: false, refund_id: null, note: 'No' });
});

test('triage-ticket shares a named type and fills the default of a form', () => {
  const method = example('triage-ticket');
  const review = stepOf(method, 'review', 'ask');
  assert.deepEqual(review.out?.check({ team: 'trust' }), { ok: true, value: { team: 'trust', priority: 'normal' } });
  assert.deepEqual(
    review.show.map(({ path }) => path),
    ['steps.ticket.body', 'steps.ticket.customer'],
  );
  const classify: CallStep = stepOf(method, 'classify', 'call');
  assert.deepEqual(classify.target, { kind: 'method', method: 'wf_8Xk2Lq', version: 'pinned' });
  assert.deepEqual([...classify.inputs.keys()], ['text', 'labels']);
  const route: CodeStep = stepOf(method, 'route', 'node');
  assert.equal(route.codeLine, 18);
  assert.match(route.code, /^return \{ team/);
});

test('a workflow/2 source reads the older spellings, and passes secrets on as whole values', () => {
  const method = example('copy-export');
  assert.deepEqual([method.format, method.name, method.limits.runTimeoutMs], ['workflow/2', 'copy-export', 7_200_000]);
  const exported = stepOf(method, 'export', 'http');
  assert.deepEqual([exported.keepsFile, exported.accept, exported.limits.timeoutMs], [true, [404], 90_000]);
  const login = stepOf(method, 'login', 'http');
  assert.deepEqual(
    [login.out?.hasSecret, login.secrets, login.keepsFile],
    [true, ['CLIENT_ID', 'CLIENT_SECRET'], false],
  );
  const scope: Scope = {
    inputs: { day: '2026-01-31', tenant: 'a/c me' },
    run: RUN,
    steps: { login: { token: 'tok' } },
    secrets: (name) => `<${name}>`,
  };
  assert.equal(evaluate(exported.url, scope), 'https://a%2Fc%20me.example.com/exports/orders.csv');
  assert.ok(exported.query);
  assert.deepEqual(evaluate(exported.query, scope), { day: '2026-01-31', column: ['id', 'total'], limit: null });
  assert.ok(exported.auth?.kind === 'bearer');
  assert.equal(evaluate(exported.auth.token, scope), 'tok');
  assert.equal(evaluate(stepOf(method, 'tell', 'http').url, scope), '<CHAT_URL>');
  assert.equal(codes('format: method/2\nworkflow: ab\nsteps:\n  - name: a\n    node: f()\n').includes('M101'), true);
});

test('inserted values are percent-encoded in a URL, except one that opens it', () => {
  const source = (url: string) =>
    `format: method/2\nname: ab\ninputs: { base: url, id: string }\nsteps:\n  - name: a\n    http: { get: "${url}" }\n`;
  const scope: Scope = { inputs: { base: 'https://a.example/v1?x=', id: 'a/b c&d' }, run: RUN, steps: {} };
  const urlOf = (url: string) => {
    const { method, diagnostics } = compileMethod(source(url));
    assert.ok(method, JSON.stringify(diagnostics));
    return evaluate(stepOf(method, 'a', 'http').url, scope);
  };
  assert.equal(
    urlOf('https://a.example/x/${inputs.id}?q=${inputs.id}'),
    'https://a.example/x/a%2Fb%20c%26d?q=a%2Fb%20c%26d',
  );
  assert.equal(urlOf('${inputs.base}${inputs.id}'), 'https://a.example/v1?x=a%2Fb%20c%26d');
  assert.equal(urlOf('=inputs.base'), 'https://a.example/v1?x=');
  assert.equal(urlOf('https://a.example/$${id}'), 'https://a.example/${id}');
});

const FLOW =
  'format: method/2\nname: ab\ninputs: { amount: number }\nsteps:\n  - name: a\n    if: inputs.amount > 100\n    node: f()\n    out: { ok: boolean }\n';

test('a skipped step must be guarded', () => {
  assert.deepEqual(codes(`${FLOW}  - name: b\n    if: steps.a.ok\n    node: f()\n`), ['M405']);
  assert.deepEqual(codes(`${FLOW}result: { ok: =steps.a.ok }`), ['M405']);
  assert.deepEqual(codes(`${FLOW}result: { ok: =steps.a?.ok ?? false }`), []);
  assert.deepEqual(
    codes(`${FLOW}  - name: b\n    if: steps.a != null && steps.a.ok\n    in: { ok: =steps.a.ok }\n    node: f(ok)\n`),
    [],
  );
});

test('a step whose if repeats the one of its producer may read it unguarded', () => {
  const repeated = (condition: string) =>
    codes(`${FLOW}  - name: b\n    if: ${condition}\n    in: [steps.a.ok]\n    node: f(ok)\n`);
  assert.deepEqual(repeated('inputs.amount > 100'), []);
  assert.deepEqual(repeated('inputs.amount>100 && inputs.amount < 500'), []);
  assert.deepEqual(repeated('inputs.amount > 100 && steps.a.ok'), []);
  assert.deepEqual(repeated('inputs.amount > 100 || inputs.amount < 5'), ['M405']);
  assert.deepEqual(repeated('inputs.amount > 99'), ['M405']);
});

test('positions are those of the characters at fault, and diagnostics are in file order', () => {
  const source =
    'format: method/2\nname: ab\nsteps:\n  - name: one\n    if: "run.idd == \'x\'"\n    node: f()\n    oot: { a: strng }\n';
  const { diagnostics } = compileMethod(source);
  assert.deepEqual(
    diagnostics.map((d) => [d.code, d.path, d.line, d.column, d.end_line, d.end_column]),
    [
      ['M403', 'steps[0].if', 5, 14, 5, 17],
      ['M101', 'steps[0].oot', 7, 5, 7, 8],
    ],
  );
});

test('keys starting x- are ignored on the method, steps and blocks', () => {
  assert.deepEqual(
    codes(
      'format: method/2\nname: ab\nx-owner: { team: [a] }\nsteps:\n  - name: a\n    x-note: 1\n    http: { get: https://a.example, x-y: 1 }\n',
    ),
    [],
  );
});

test('at most 100 diagnostics are given, and a refused source never shows only warnings', () => {
  const noisy = `format: method/2\nname: ab\nsecrets: [${Array.from({ length: 90 }, (_, n) => `S_${n}`).join(', ')}]\nsteps:\n${Array.from({ length: 150 }, (_, n) => `  - name: s${n}\n    node: return 1\n`).join('')}  - name: z\n    nod: f()\n`;
  const { method, diagnostics } = compileMethod(noisy);
  assert.equal(method, null);
  assert.equal(diagnostics.length, 100);
  assert.ok(diagnostics.some((d) => d.severity === 'error'));
});

test('bytes and text compile alike, and a byte order mark or CRLF changes nothing', () => {
  const text = readFileSync(new URL('../examples/refund-order.method', import.meta.url), 'utf8');
  for (const source of [text, Buffer.from(text), `\uFEFF${text}`, text.replaceAll('\n', '\r\n')]) {
    const { method, diagnostics } = compileMethod(source);
    assert.deepEqual(diagnostics, []);
    assert.ok(method && isJsonObject(method.inputSchema));
  }
});
