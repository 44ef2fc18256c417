import { deepEqual, equal, match } from 'node:assert/strict';
import { after, test } from 'node:test';
import { CliFolder } from '../cli.fixture.ts';

const REFUND = `format: method/2
name: refund
inputs: { amount: number }
secrets: [SHOP_TOKEN]
steps:
  - name: order
    http: { get: "https://shop.invalid/orders/1", auth: { bearer: SHOP_TOKEN } }
    retry: 2
    out: { total: number }
    ensure:
      - The amount fits: inputs.amount <= out.total
  - name: approval
    if: inputs.amount > 100
    ask: Refund \${inputs.amount}?
    out: { decision: [approve, reject] }
  - name: sums
    in: { total: =steps.order.total, amount: =inputs.amount }
    node: "return { left: total - amount }"
    out: { left: number }
  - name: never
    if: inputs.amount < 0
    node: step.log("never")
result: { left: =steps.sums.left }
tests:
  - name: a small refund needs no approval
    inputs: { amount: 20 }
    mock: { order: { total: 50 } }
    expect: { status: succeeded, skipped: [approval], result: { left: 30 } }
  - name: a large one is asked for
    inputs: { amount: 200 }
    mock: { order: { total: 500 } }
    answers: { approval: { decision: approve } }
    expect:
      result: { left: 300 }
      that:
        - It was approved: steps.approval != null && steps.approval.decision == "approve"
  - name: too much fails
    inputs: { amount: 60 }
    mock: { order: { total: 50 } }
    expect: { status: failed, failed_step: order, checks_failed: [The amount fits] }
  - name: the shop is down
    inputs: { amount: 60 }
    mock: { order: { $error: { kind: http, status: 503, headers: { retry-after: 5 }, body: closed } } }
    expect: { failed_step: order }
`;
const WRONG = `format: method/2
name: wrong
inputs: { n: number }
steps:
  - name: double
    in: [inputs.n]
    node: "return { n: n * 2 }"
    out: { n: number }
  - name: post
    http: { post: "https://shop.invalid/x" }
    out: { id: string }
result: { n: =steps.double.n }
tests:
  - name: it doubles
    inputs: { n: 2 }
    mock: { post: { id: a } }
    expect: { result: { n: 5 } }
  - name: nothing is mocked
    inputs: { n: 2 }
`;

interface Verdicts {
  readonly ok: boolean;
  readonly tests: readonly {
    readonly file: string;
    readonly name: string;
    readonly ok: boolean;
    readonly message: string | null;
  }[];
  readonly never_reached?: readonly {
    readonly file: string;
    readonly steps: readonly string[];
    readonly checks: readonly unknown[];
  }[];
}

const folder = await CliFolder.make({ 'refund.method': REFUND, 'wrong.method': WRONG });
after(() => folder.remove());

test('tests run the code with mocks and answers, without secrets of the environment', async () => {
  const { code, document } = await folder.json<Verdicts>(['test', 'refund.method', '--coverage']);
  deepEqual(
    document.tests.map(({ name, message }) => [name, message]),
    [
      ['a small refund needs no approval', null],
      ['a large one is asked for', null],
      ['too much fails', null],
      ['the shop is down', null],
    ],
  );
  equal(code, 0);
  deepEqual(document.never_reached, [{ file: 'refund.method', steps: ['never'], checks: [] }]);
  deepEqual(await folder.runs(), []);
});

test('--only runs one test; an unknown name is wrong usage', async () => {
  const { stdout } = await folder.methods(['test', 'refund.method', '--only', 'too much fails']);
  equal(stdout, 'passed too much fails\n1 test passed\n');
  const { code, stderr } = await folder.methods(['test', 'refund.method', '--only', 'too much fail']);
  equal(code, 2);
  match(stderr, /did you mean "too much fails"\?/);
});

test('unexpected outcomes are reported, and so are steps without a mock', async () => {
  const { code, document } = await folder.json<Verdicts>(['test', 'wrong.method']);
  equal(code, 1);
  deepEqual(
    document.tests.map(({ ok, message }) => [ok, message]),
    [
      [false, 'result.n: expected 5, got 4'],
      [false, 'the http step post is not mocked: add  mock: { post: { … } }'],
    ],
  );
});

test('a step whose rounds were all skipped is skipped, and a list of nulls', async () => {
  const own = await CliFolder.make({
    'tell.method': `format: method/2
name: tell
inputs: { list: list<integer> }
steps:
  - name: tell
    each: inputs.list
    if: item > 5
    in: { n: =item }
    node: "return { n }"
    out: { n: integer }
result: { told: =steps.tell.filter(t => t != null).length }
tests:
  - name: nobody is told
    inputs: { list: [1, 2] }
    expect:
      skipped: [tell]
      result: { told: 0 }
      that:
        - Both are null: steps.tell.length == 2
`,
  });
  try {
    const { code, stdout } = await own.methods(['test', 'tell.method']);
    equal(code, 0, stdout);
  } finally {
    await own.remove();
  }
});

const FILES = `format: method/2
name: files
inputs: { a: file, more?: list<file> }
steps:
  - name: read
    in: [inputs.a, inputs.more]
    node: |
      const { readFileSync } = await import('node:fs')
      return { text: readFileSync(a.path, 'utf8'), second: more == null ? null : readFileSync(more.at(-1).path, 'utf8') }
    out: { text: string, second: string | null }
result: { text: =steps.read.text, second: =steps.read.second, bytes: =inputs.a.bytes, name: =inputs.a.name }
tests:
  - name: files are written as text
    inputs: { a: { $file: hello }, more: [{ $file: one }, { $file: two }] }
    expect: { result: { text: hello, second: two, bytes: 5, name: a.txt } }
`;

test('a file among the inputs of a test is one with its text; a path is not a file', async () => {
  await folder.write('files.method', FILES);
  const tested = await folder.methods(['test', 'files.method']);
  deepEqual([tested.code, tested.stderr], [0, '']);
  const path = { path: '/etc/passwd', bytes: 1, sha256: 'a'.repeat(64), media_type: 'text/plain' };
  const run = await folder.methods(['run', 'files.method', '--inputs', JSON.stringify({ a: path })]);
  equal(run.code, 1);
  match(run.stderr, /the inputs do not fit: a/);
});

test('methods run takes files of this machine by name, and none of a server', async () => {
  await folder.write('files.method', FILES);
  await folder.write('note.txt', 'a note');
  await folder.write('other.md', 'another');
  const args = ['run', 'files.method', '--inputs', 'a=@note.txt', '--inputs', 'more=@note.txt', '--inputs'];
  const { document } = await folder.json<{ status: string; result: unknown }>([...args, 'more=@other.md']);
  deepEqual(document.result, { text: 'a note', second: 'another', bytes: 6, name: 'note.txt' });
  await folder.write('ends in a dot.', 'x');
  const refused = await folder.methods(['run', 'files.method', '--inputs', 'a=@ends in a dot.']);
  deepEqual([refused.code, refused.stdout], [1, '']);
  match(refused.stderr, /^error: a run cannot keep the file "ends in a dot." under its name: a name ends in a dot/m);
  const list = ['--inputs', '{"more": []}', '--inputs', 'more=@other.md'];
  const one = await folder.json<{ result: { second: string } }>([...args.slice(0, 4), ...list]);
  equal(one.document.result.second, 'another', 'a list of one');
  const missing = await folder.methods(['run', 'files.method', '--inputs', 'a=@missing.txt']);
  match(missing.stderr, /cannot read missing.txt/);
  const named = await folder.methods(['run', 'files.method', '--inputs', `{"a":{"file_id":"file_${'1'.repeat(26)}"}}`]);
  match(named.stderr, /a names a file of a server/);
});
