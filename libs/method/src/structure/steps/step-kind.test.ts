// One kind a step, and the keys that say nothing for it; retry, on_error, on_interrupt, limits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, compiled, found, hintOf, stepIn } from '../../compile.fixture.ts';
import { evaluate } from '../../evaluate.ts';

const step = (body: string): string => `steps:\n  - name: a\n${body}`;

test('a step has exactly one kind (M108, M109)', () => {
  assert.deepEqual(found(step('    title: x\n')), ['M108 2:5-1']);
  assert.deepEqual(found(step('    shell: ls\n    python: pass\n')), ['M109 3:5-10']);
  assert.deepEqual(codesOf(step('    run: ls\n')), ['M108', 'M101']);
  assert.match(hintOf('M101', step('    run: ls\n')), /"shell"/);
});

test('a key without a meaning for the kind is reported at the key, with what to do instead (M111)', () => {
  const cases: readonly (readonly [body: string, at: string, hint: RegExp])[] = [
    ['    http: { get: https://a.example }\n    in: [inputs.count]\n', '4:5-7', /fields of http/],
    ['    wait: 3s\n    out: { n: integer }\n', '4:5-8', /remove/],
    ['    wait: 3s\n    limits: { timeout: 3s }\n', '4:5-11', /remove/],
    ['    check: [{ a: inputs.flag }]\n    ensure: [{ a: inputs.flag }]\n', '4:5-11', /under check/],
    ['    ask: Hm?\n    out: { n: integer }\n    retry: 2\n', '5:5-10', /remove/],
    ['    steps: [{ name: b, wait: 1s }]\n    out: { n: integer }\n', '4:5-8', /result/],
    ['    steps: [{ name: b, wait: 1s }]\n    retry: 2\n', '4:5-10', /steps inside/],
    ['    parallel: [{ name: b, wait: 1s }]\n    result: { a: 1 }\n', '4:5-11', /own names/],
    ['    node: f()\n    result: { a: 1 }\n', '4:5-11', /out:/],
    ['    call: wf_1\n    secrets: [API_TOKEN]\n', '4:5-12', /declares its own/],
    ['    call: wf_1\n    on_interrupt: ask\n', '4:5-17', /called method/],
    ['    call: wf_1\n    retry: 2\n', '4:5-10', /called method/],
    ['    http: { get: https://a.example }\n    stdout: text\n', '4:5-11', /take/],
  ];
  for (const [body, at, hint] of cases) {
    assert.deepEqual(found(step(body)), [`M111 ${at}`]);
    assert.match(hintOf('M111', step(body)), hint);
  }
});

test('on_error and on_interrupt are fixed words (M105)', () => {
  assert.deepEqual(found(step('    node: f()\n    on_error: contniue\n')), ['M105 4:15-23']);
  assert.match(hintOf('M105', step('    node: f()\n    on_error: contniue\n')), /"continue"/);
  assert.deepEqual(found(step('    node: f()\n    on_interrupt: restart\n')), ['M105 4:19-26']);
  const compiledStep = stepIn(
    compiled(step('    node: f()\n    on_error: continue\n    on_interrupt: ask\n')),
    'a',
    'node',
  );
  assert.deepEqual([compiledStep.onError, compiledStep.onInterrupt], ['continue', 'ask']);
});

test('retry is a number of tries or a mapping, within bounds (M803, M801, M102, M101)', () => {
  const retryOf = (retry: string) => stepIn(compiled(step(`    node: f()\n    retry: ${retry}\n`)), 'a', 'node').retry;
  assert.deepEqual(retryOf('3'), { triesMore: 3, delayMs: 1_000, factor: 2, maxDelayMs: 60_000, condition: null });
  const full = retryOf('{ max: 4, delay: 2m, factor: 1, if: error.status == 429 || error.code == "ECONNRESET" }');
  assert.deepEqual([full?.triesMore, full?.delayMs, full?.factor, full?.maxDelayMs], [4, 120_000, 1, 120_000]);
  assert.ok(full?.condition);
  const scope = { inputs: {}, run: { id: '', started_at: '', version_id: '' }, steps: {} };
  const error = { kind: 'http', message: '', status: 429, code: null };
  assert.equal(evaluate(full.condition, { ...scope, error }), true);
  assert.equal(retryOf('{ max: 1, if: true }')?.condition?.source, 'true');
  const refused = (retry: string) => found(step(`    node: f()\n    retry: ${retry}\n`));
  assert.deepEqual(refused('21'), ['M803 4:12-14']);
  assert.deepEqual(refused('{ max: 2.5 }'), ['M803 4:19-22']);
  assert.deepEqual(refused('{ delay: 1s }'), ['M102 4:5-10']);
  assert.deepEqual(refused('{ max: 1, delay: 1 }'), ['M801 4:29-30']);
  assert.deepEqual(refused('{ max: 1, delay: 2d }'), ['M803 4:29-31']);
  assert.deepEqual(refused('{ max: 1, factor: 0 }'), ['M803 4:30-31']);
  assert.deepEqual(refused('{ max: 1, backoff: 2 }'), ['M101 4:22-29']);
  assert.deepEqual(refused('{ max: 1, if: error.status > 400 }'), ['M405 4:26-38']);
  assert.deepEqual(refused('{ max: 1, if: error.kind == "netwrk" }'), ['M408 4:40-48']);
  assert.deepEqual(refused('{ max: 1, if: out.n == 1 }'), ['M403 4:26-29']);
});

test('limits fit the kind: a network only code can lose, deadlines for what waits (M111, M105)', () => {
  const network = (limits: string, top = '') =>
    stepIn(compiled(`${top}${step(`    shell: ls\n${limits}`)}`), 'a', 'shell').network;
  assert.equal(network(''), true);
  assert.equal(network('    limits: { network: none }\n'), false);
  assert.equal(network('', 'limits: { network: none }\n'), false);
  assert.equal(network('    limits: { network: open }\n', 'limits: { network: none }\n'), true);
  assert.deepEqual(found(step('    shell: ls\n    limits: { network: off }\n')), ['M105 4:24-27']);
  const http = step('    http: { get: https://a.example }\n    limits: { network: none }\n');
  assert.deepEqual(found(http), ['M111 4:15-22']);
  const call = compiled(`limits: { timeout: 5s }\n${step('    call: wf_1\n')}`);
  assert.equal(stepIn(call, 'a', 'call').limits.timeoutMs, null);
  const timed = compiled(step('    call: wf_1\n    limits: { timeout: 5s }\n'));
  assert.equal(stepIn(timed, 'a', 'call').limits.timeoutText, '5s');
  const counted = compiled(step('    call: wf_1\n    limits: { timeout_ms: 259200000 }\n'));
  assert.equal(stepIn(counted, 'a', 'call').limits.timeoutText, '3d');
});

test('features are the kinds used anywhere', () => {
  const method = compiled(
    'steps:\n  - name: a\n    steps:\n      - name: b\n        parallel:\n          - name: c\n            python: pass\n          - name: d\n            wait: 1s\non_failure:\n  - name: e\n    shell: ls\nfinally:\n  - name: f\n    http: { get: https://a.example }\n',
  );
  assert.deepEqual(method.features, ['http', 'parallel', 'python', 'shell', 'steps', 'wait']);
  assert.deepEqual([method.onFailure[0]?.name, method.finally[0]?.name], ['e', 'f']);
});
