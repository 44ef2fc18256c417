import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { CodeStep, CompiledMethod } from '@methods/method/compiled-method';
import { until } from '@methods/test/harness/until';
import { literal, method, node, out, path } from './hand-built-method.fixture.ts';
import { RunHarness } from './run-harness.fixture.ts';
import type { RunOutcome } from './run-outcome.ts';

/** The requests of each, and those whose reply is held back. */
const asked: number[] = [];
const held = new Map<number, ServerResponse>();
let holds: (n: number) => boolean = () => false;
/** A late request of an earlier test must not count. */
let serial = 0;
const server = createServer((request, response) => {
  const [, of, n] = (request.url ?? '').split('/').map(Number) as [number, number, number];
  if (of !== serial) return void response.end();
  asked.push(n);
  if (holds(n)) held.set(n, response);
  else response.end(String(n));
});
const harnesses: RunHarness[] = [];

before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(async () => {
  await Promise.all(harnesses.map((harness) => harness.stop()));
  server.closeAllConnections();
  server.close();
});

/** `withinMs`: how soon a queued step should begin. Long if the machine may be slow and a queue is needed. */
async function started(runnersMax: number, withinMs = 30_000): Promise<RunHarness> {
  const harness = await RunHarness.start({ runnersMax, spawnAfterMs: withinMs });
  harnesses.push(harness);
  serial++;
  asked.length = 0;
  held.clear();
  holds = () => false;
  return harness;
}

function asking(n: number, more = '', limits: Partial<CodeStep['limits']> = {}): CompiledMethod {
  const { port } = server.address() as AddressInfo;
  const code = `${more}const reply = await fetch(url); return { n: Number(await reply.text()) }`;
  const inputs = { url: literal(`http://127.0.0.1:${port}/${serial}/${n}`) };
  return method([node('only', code, { inputs, out: out({ n: { type: 'integer' } }), limits })], {
    n: path('steps', 'only', 'n'),
  });
}

function release(n: number): void {
  held.get(n)?.end(String(n));
  held.delete(n);
}

const numberOf = (outcome: RunOutcome) => (outcome.status === 'succeeded' ? outcome.result.n : outcome);
const times = (n: number) => asked.filter((it) => it === n).length;

describe('steps whose code is contained', { timeout: 120_000 }, () => {
  /** Occupies a runner with a step held at the server, and queues `numbers` behind it. */
  async function inLine(harness: RunHarness, first: CompiledMethod, numbers: readonly number[], signal?: AbortSignal) {
    const run = (it: CompiledMethod, more = {}) => harness.run(it, { versionId: 'ver_line', ...more });
    // The process has started, and has used fetch.
    await run(asking(0));
    holds = (n) => n === 1;
    const present = run(first);
    const behind = numbers.map((n) => run(asking(n), n === 2 && signal ? { signal } : {}));
    await until('all steps wait in line', () => harness.runners.queuedCount === numbers.length);
    return { present, behind };
  }

  it('are queued at a runner, and each runs once', async () => {
    const harness = await started(1);
    await harness.run(asking(0), { versionId: 'ver_line' });
    const numbers = Array.from({ length: 40 }, (_, i) => i + 1);
    holds = (n) => n === 1;
    const runs = numbers.map((n) => harness.run(asking(n), { versionId: 'ver_line' }));
    await until('the steps wait in line', () => held.has(1) && harness.runners.queuedCount === 8);
    release(1);
    assert.deepEqual((await Promise.all(runs)).map(numberOf), numbers);
    assert.deepEqual(asked.slice(1), numbers);
  });

  it('move to another runner when the step before them takes long', async () => {
    const harness = await started(2, 1_000);
    const { present, behind } = await inLine(harness, asking(1), [2, 3, 4, 5]);
    assert.deepEqual((await Promise.all(behind)).map(numberOf), [2, 3, 4, 5]);
    assert.ok(held.has(1), 'the long one is still at work');
    release(1);
    assert.equal(numberOf(await present), 1);
    assert.deepEqual([...asked].sort(), [0, 1, 2, 3, 4, 5]);
  });

  it('are not ended with one that exceeds its time', async () => {
    const harness = await started(1);
    const { present, behind } = await inLine(harness, asking(1, '', { timeoutMs: 500 }), [2, 3, 4]);
    const end = await present;
    assert.equal(end.status === 'failed' && end.error.kind, 'timeout');
    assert.deepEqual((await Promise.all(behind)).map(numberOf), [2, 3, 4]);
    assert.deepEqual([2, 3, 4].map(times), [1, 1, 1]);
  });

  it('end at once when they are stopped in the queue, and never begin', async () => {
    const harness = await started(1);
    const stop = new AbortController();
    const { present, behind } = await inLine(harness, asking(1), [2, 3, 4], stop.signal);
    stop.abort();
    assert.equal((await behind[0])?.status, 'stopped');
    await until('the first step is held', () => held.has(1));
    release(1);
    assert.deepEqual((await Promise.all([present, ...behind.slice(1)])).map(numberOf), [1, 3, 4]);
    assert.equal(times(2), 0);
  });

  it('are not blamed for leftovers of an earlier one', async () => {
    const harness = await started(1);
    await harness.run(asking(0), { versionId: 'ver_line' });
    const left = asking(1, "Promise.reject(new Error('left behind'));\n");
    const runs = [left, ...[2, 3, 4, 5].map((n) => asking(n))].map((it) => harness.run(it, { versionId: 'ver_line' }));
    assert.deepEqual((await Promise.all(runs.slice(1))).map(numberOf), [2, 3, 4, 5]);
    await Promise.all(runs);
    assert.deepEqual([2, 3, 4, 5].map(times), [1, 1, 1, 1]);
  });

  it('run once each while queued ones are given and taken back', async () => {
    const harness = await started(3, 100);
    const numbers = Array.from({ length: 60 }, (_, n) => n);
    holds = (n) => n % 15 === 7;
    const runs = numbers.map((n) => harness.run(asking(n), { versionId: 'ver_churn' }));
    const all = Promise.all(runs);
    let over = false;
    void all.finally(() => {
      over = true;
    });
    await until('all steps are over', () => {
      // Held for as long as it takes that others are taken back from behind it.
      for (const n of [...held.keys()]) if (harness.runners.queuedCount === 0) release(n);
      return over;
    });
    assert.deepEqual((await all).map(numberOf), numbers);
    assert.deepEqual(
      numbers.filter((n) => times(n) !== 1),
      [],
    );
  });

  it('cannot name a file that another step left in the working folder', async () => {
    const harness = await started(1);
    const text = out({ text: { type: 'string' } });
    const run = (name: string, code: string) =>
      harness.run(method([node(name, code, { out: text })], { text: path('steps', name, 'text') }), {
        versionId: 'ver_left',
      });
    const writes = "const fs = await import('node:fs'); fs.writeFileSync('left.txt', 'x'); return { text: 'written' }";
    assert.equal((await run('writes', writes)).status, 'succeeded');
    const names = "await null; try { step.file('left.txt') } catch (error) { return { text: error.message } }";
    const outcome = await run('names', names);
    assert.ok(outcome.status === 'succeeded', JSON.stringify(outcome));
    assert.equal(outcome.result.text, 'step.file: there is no file left.txt');
  });

  it('are queued behind code of other kinds as well', async () => {
    const harness = await started(1);
    await harness.run(asking(0), { versionId: 'ver_line' });
    holds = (n) => n === 1;
    const present = harness.run(asking(1, "(await import('node:fs')).writeFileSync('left', 'x')\n"), {
      versionId: 'ver_line',
    });
    const behind = harness.run(asking(2), { versionId: 'ver_line' });
    await until('one waits in line', () => held.has(1) && harness.runners.queuedCount === 1);
    release(1);
    assert.deepEqual((await Promise.all([present, behind])).map(numberOf), [1, 2]);
  });
});
