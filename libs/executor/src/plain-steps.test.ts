import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CodeStep, CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { literal, method, node, out, path } from './hand-built-method.fixture.ts';
import { RunHarness } from './run-harness.fixture.ts';
import type { RunOutcome } from './run-outcome.ts';

const ANY = out({ value: {} });
/** Whether the code runs as plain code. */
const FROZEN = 'Object.isFrozen(Object.prototype)';

let harness: RunHarness;
before(async () => {
  harness = await RunHarness.start({ runnersMax: 4 });
});
after(() => harness.stop());

/** One step that gives `value`; `n` and `list` are its values. */
function computing(code: string, limits: Partial<CodeStep['limits']> = {}) {
  return (n: JsonValue, list: JsonValue = []): CompiledMethod =>
    method([node('only', code, { inputs: { n: literal(n), list: literal(list) }, out: ANY, limits })], {
      value: path('steps', 'only', 'value'),
    });
}

function resultOf(outcome: RunOutcome): JsonValue | undefined {
  assert.equal(outcome.status, 'succeeded', JSON.stringify(outcome));
  return (outcome.result as JsonObject).value;
}

const errorOf = (outcome: RunOutcome) => (outcome.status === 'failed' ? outcome.error : null);

describe('steps whose code is plain', { timeout: 300_000 }, () => {
  it('run many at once, each with its own values', async () => {
    const twice = computing(`return { value: [n * 2, ${FROZEN}] }`);
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    const outcomes = await Promise.all(numbers.map((n) => harness.run(twice(n), { versionId: 'ver_twice' })));
    assert.deepEqual(
      outcomes.map(resultOf),
      numbers.map((n) => [2 * n, true]),
    );
    assert.ok(harness.runners.size <= 3, `${harness.runners.size} processes`);
  });

  it('see values of their own realm, and may return nothing', async () => {
    const kinds = computing(
      'return { value: [list instanceof Array, list[0] instanceof Object, Object.getPrototypeOf(list[0]) === Object.prototype] }',
    );
    assert.deepEqual(resultOf(await harness.run(kinds(1, [{}]))), [true, true, true]);
    const nothing = method([node('only', 'const unused = 1', {})], {});
    assert.equal((await harness.run(nothing)).status, 'succeeded');
  });

  it('leave nothing to the next run, even by names that come as values', async () => {
    const code = `const [outer, inner] = list
      try { ({})[outer][inner] = n } catch { return { value: 'frozen' } }
      return { value: ({})[inner] ?? null }`;
    const changed = computing(code);
    assert.equal(resultOf(await harness.run(changed(1, ['__proto__', 'left']), { versionId: 'ver_left' })), 'frozen');
    const matched = computing('/(b)/.exec("abc"); return { value: /x/.constructor.$1 ?? null }');
    assert.equal(resultOf(await harness.run(matched(1))), null);
  });

  it('leave nothing in the names of built-ins', async () => {
    const assigned = computing('if (n === 0) Math = { max: () => 42 }; return { value: Math.max(1, 2) }');
    const values: (JsonValue | undefined)[] = [];
    for (const n of [1, 0, 1]) values.push(resultOf(await harness.run(assigned(n), { versionId: 'ver_assigned' })));
    assert.deepEqual(values, [2, 42, 2]);
  });

  it('reach nothing that is not frozen', async () => {
    // Values of literals and calls are the run's own, and not frozen.
    const reached = `
      const own = [[], () => 1, /a/, new Error(), Object(1n), Object(Object.getOwnPropertySymbols(Array)[0]), [].values()]
      own.push('a'.matchAll(/a/g), new Map().values(), new Set().values(), new Intl.Segmenter().segment('a'))
      own.push(new Intl.DateTimeFormat(), new Intl.Locale('en'), new Intl.Collator().compare)
      const waiting = [Object, Array, String, Number, Boolean, BigInt, Math, JSON, Date, Map, Set, RegExp, Intl, Error]
      waiting.push(parseInt, isNaN, encodeURI, ...own.map((it) => Object.getPrototypeOf(it)))
      const seen = new Set()
      const open = []
      while (waiting.length > 0) {
        const it = waiting.pop()
        if ((typeof it !== 'object' && typeof it !== 'function') || it === null || seen.has(it)) continue
        seen.add(it)
        const parts = Object.getOwnPropertyDescriptors(it)
        const keys = [...Object.getOwnPropertyNames(parts), ...Object.getOwnPropertySymbols(parts)]
        if (!Object.isFrozen(it)) open.push(keys.map(String).join())
        waiting.push(Object.getPrototypeOf(it))
        for (const key of keys) waiting.push(parts[key].value, parts[key].get, parts[key].set)
      }
      return { value: [seen.size > 300, open, ${FROZEN}] }`;
    assert.deepEqual(resultOf(await harness.run(computing(reached)(1))), [true, [], true]);
  });

  it('fail as all steps do: with their line, and their message', async () => {
    const fails = computing('\nif (n > 1) throw new TypeError(`n is ${n}`)\nreturn { value: n }');
    const outcomes = await Promise.all([1, 2, 1].map((n) => harness.run(fails(n), { versionId: 'ver_fails' })));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['succeeded', 'failed', 'succeeded'],
    );
    const other = computing('\nawait null; if (n > 1) throw new TypeError(`n is ${n}`)\nreturn { value: n }');
    assert.deepEqual(errorOf(outcomes[1] as RunOutcome), errorOf(await harness.run(other(2))));
    assert.match(JSON.stringify(outcomes[1]), /n is 2/);
  });

  it('run as others do if they change a frozen object', async () => {
    const own = computing(`const it = {}; it.toString = () => 'own'; return { value: [\`\${it}\`, ${FROZEN}] }`);
    for (let n = 0; n < 2; n++) {
      assert.deepEqual(resultOf(await harness.run(own(n), { versionId: 'ver_own' })), ['own', false]);
    }
    const awaited = computing('return { then: (end) => end({ value: n }) }');
    assert.equal(resultOf(await harness.run(awaited(1))), 1);
    const made = computing('return { value: list.map.constructor("return typeof process")() }');
    assert.equal(resultOf(await harness.run(made(1))), 'object');
  });

  it('do not suffer from one that never ends, or takes all memory', async () => {
    for (const [code, kind] of [
      ['if (n === 3) for (;;) n += 1\nreturn { value: n }', 'timeout'],
      ['if (n === 3) for (const all = [];;) all.push("x".repeat(1e6) + all.length)\nreturn { value: n }', 'memory'],
    ] as const) {
      const one = computing(code, { timeoutMs: 10_000, memoryMb: 64, ...(kind === 'timeout' && { timeoutMs: 1_000 }) });
      const numbers = [1, 2, 3, 4, 5];
      const outcomes = await Promise.all(numbers.map((n) => harness.run(one(n), { versionId: `ver_${kind}` })));
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        numbers.map((n) => (n === 3 ? 'failed' : 'succeeded')),
        JSON.stringify(outcomes),
      );
      assert.equal((errorOf(outcomes[2] as RunOutcome) as { kind?: string } | null)?.kind, kind);
    }
  });

  it('end beside a run that is cancelled', async () => {
    const one = computing('let left = list.length; while (left > 0) left -= 1\nreturn { value: n }');
    const stop = new AbortController();
    const stopped = harness.run(one(1), { versionId: 'ver_stop', signal: stop.signal });
    const others = [2, 3].map((n) => harness.run(one(n), { versionId: 'ver_stop' }));
    stop.abort();
    assert.equal((await stopped).status, 'stopped');
    assert.deepEqual((await Promise.all(others)).map(resultOf), [2, 3]);
  });
});
