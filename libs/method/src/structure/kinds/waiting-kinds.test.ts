// wait, ask, parallel, browser and agent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, compiled, found, hintOf, stepIn } from '../../compile.fixture.ts';
import { evaluate } from '../../evaluate.ts';

const step = (body: string): string => `steps:\n  - name: a\n${body}`;

test('wait takes a duration or a moment', () => {
  assert.deepEqual(stepIn(compiled(step('    wait: 1h30m\n')), 'a', 'wait').wait, { kind: 'for', ms: 5_400_000 });
  const { wait } = stepIn(compiled(step('    wait: { until: inputs.start }\n')), 'a', 'wait');
  assert.ok(wait.kind === 'until');
  const scope = {
    inputs: { start: '2026-01-01T00:00:00Z' },
    run: { id: '', started_at: '', version_id: '' },
    steps: {},
  };
  assert.equal(evaluate(wait.time, scope), '2026-01-01T00:00:00Z');
  assert.deepEqual(found(step('    wait: 30\n')), ['M801 3:11-13']);
  assert.match(hintOf('M801', step('    wait: 30\n')), /30s/);
  assert.deepEqual(found(step('    wait: 2d400d\n')), ['M801 3:11-17']);
  assert.deepEqual(found(step('    wait: 400d\n')), ['M803 3:11-15']);
  assert.deepEqual(found(step('    wait: {}\n')), ['M102 3:5-9']);
  assert.deepEqual(found(step('    wait: { for: 3s }\n')), ['M102 3:5-9', 'M101 3:13-16']);
});

test('the moment of a wait is a datetime that is present (M406, M405)', () => {
  assert.deepEqual(found(step('    wait: { until: inputs.count }\n')), ['M406 3:20-32']);
  assert.match(hintOf('M406', step('    wait: { until: inputs.flag }\n')), /datetime/);
  assert.deepEqual(codesOf(step('    wait: { until: inputs.note }\n')), ['M405']);
});

test('questions that could be open at once are asked one by one (M513)', () => {
  const each = step('    each: inputs.ids\n    at_once: 3\n    ask: Take ${item}?\n    out: { ok: boolean }\n');
  assert.deepEqual(found(each), ['M513 4:5-12']);
  assert.match(hintOf('M513', each), /one question/);
  assert.deepEqual(codesOf(each.replace('at_once: 3', 'at_once: 1')), []);
  const inner = step(
    '    each: inputs.ids\n    at_once: 3\n    steps:\n      - name: q\n        ask: Hm?\n        out: { ok: boolean }\n',
  );
  assert.deepEqual(found(inner), ['M513 7:9-12']);
  const branch = (name: string) => `      - name: ${name}\n        ask: Hm?\n        out: { ok: boolean }\n`;
  assert.deepEqual(found(step(`    parallel:\n${branch('x')}${branch('y')}`)), ['M513 3:5-13']);
  assert.deepEqual(codesOf(step(`    parallel:\n${branch('x')}      - name: y\n        wait: 1s\n`)), []);
});

test('a file or a secret cannot be asked of a person (M302)', () => {
  assert.deepEqual(found(step('    ask: Hm?\n    out: { f: file }\n')), ['M302 4:15-19']);
  assert.deepEqual(codesOf(step('    ask: Hm?\n    out: { f: list<secret> }\n')), ['M302']);
});

test('browser and agent are saved with a warning and their feature (M110)', () => {
  const browser = step(
    '    secrets: [API_TOKEN]\n    in: [inputs.count]\n    browser:\n      start: https://a.example/${inputs.count}\n      do: [{ fill: { selectors: ["#p"], value: =secrets.API_TOKEN } }]\n    out: { x: string }\n    ensure:\n      - fine: out.x != ""\n',
  );
  assert.deepEqual(found(browser), ['M110 5:5-12']);
  const method = compiled(browser);
  assert.deepEqual(method.features, ['browser']);
  assert.deepEqual(stepIn(method, 'a', 'browser').secrets, ['API_TOKEN']);
  assert.deepEqual(codesOf(step('    agent: { goal: Find it, max_turns: 5 }\n')), ['M110']);
  assert.deepEqual(codesOf(step('    agent: { goal: "Find ${inputs.nothing}" }\n')), ['M110', 'M202']);
  assert.deepEqual(codesOf(step('    browser: { start: https://a.example }\n')), ['M102', 'M110']);
  assert.deepEqual(codesOf(step('    agent: { prompt: Find it }\n')).sort(), ['M101', 'M102', 'M110']);
});
