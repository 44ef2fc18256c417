// Code that harms the steps queued behind it at a runner, or the worker's record of the queue.
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import type { CodeStep } from '@methods/method/compiled-method';
import { until } from '@methods/test/harness/until';
import { CodeHarness } from './code-harness.fixture.ts';
import { literal, node, out } from './hand-built-method.fixture.ts';
import { RunStop } from './run-stop.ts';

const harnesses: CodeHarness[] = [];
after(async () => {
  await Promise.all(harnesses.map((harness) => harness.stop()));
});

async function started(runnersMax: number, withinMs = 30_000): Promise<CodeHarness> {
  const harness = await CodeHarness.start({ runnersMax, spawnAfterMs: withinMs });
  harnesses.push(harness);
  return harness;
}

const OUT = { out: out({ n: { type: 'integer' } }) };
function waits(name: string, n: number, ms: number, limits: Partial<CodeStep['limits']> = {}): CodeStep {
  const code = 'await new Promise((go) => setTimeout(go, ms)); return { n }';
  return node(name, code, { inputs: { n: literal(n), ms: literal(ms) }, limits, ...OUT });
}

/** Of this process; empty if it was closed meanwhile. */
function openFile(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}

const version = { versionId: 'ver_line' as const };

describe('a queue at a runner', { timeout: 120_000 }, () => {
  it('is not met by a step that begins while the ones taken back before it are passed', async () => {
    const harness = await started(1, 300);
    const run = (step: CodeStep) => harness.run(step, version);
    await run(waits('warm', 0, 0));
    // Its end is sent, and the runner still works: steps queued by now are read after that.
    const works = [
      'await new Promise((go) => setTimeout(go, ms))',
      'const work = async () => { for (let i = 0; i < 50; i++) await null; for (const end = Date.now() + 100; Date.now() < end;); }',
      'void work()',
      'return { n: 1 }',
    ].join('\n');
    const first = run(node('works', works, { inputs: { ms: literal(400) }, ...OUT }));
    const second = run(waits('second', 2, 60_000, { timeoutMs: 1_000 }));
    const third = run(waits('third', 3, 0));
    await until('the steps wait in line', () => harness.runners.queuedCount === 2);
    await until('the line is empty', () => harness.runners.queuedCount === 0);
    assert.deepEqual((await first).returned, { n: 1 });
    assert.equal((await second).failure?.kind, 'timeout');
    assert.deepEqual((await third).returned, { n: 3 });
  });

  it('is left by a step that creates code from text, which finds nothing of the step before it', async () => {
    const harness = await started(1);
    const text = { out: out({ text: { type: 'string' } }) };
    const run = async (name: string, code: string) => (await harness.run(node(name, code, text), version)).returned;
    const prints = await run('prints', "console.log('x'); return { text: String(process.pid) }");
    const makes = (part: string) =>
      `const make = (() => {})[['const', 'ructor'].join('')]; return { text: make('${part}')() }`;
    assert.deepEqual(await run('reads', makes('return process.env.STEP_NAME')), { text: 'reads' });
    assert.notDeepEqual(await run('asks', makes('return String(process.pid)')), prints);
  });

  it('is left by a step that assigns to a global, even one that is loaded when it is first used', async () => {
    const harness = await started(1);
    const text = { out: out({ text: { type: 'string' } }) };
    const run = async (name: string, code: string) => (await harness.run(node(name, code, text), version)).returned;
    for (const name of ['Headers', 'FormData', 'Buffer', 'crypto', 'Map']) {
      const assigns = `await null; try { ${name} = 1 } catch {}; return { text: '' }`;
      await Promise.all([run(`assigns_${name}`, assigns), run(`first_${name}`, "await null; return { text: '' }")]);
      const reads = await run(`reads_${name}`, `await null; return { text: typeof ${name} }`);
      assert.deepEqual(reads, { text: name === 'crypto' ? 'object' : 'function' });
    }
  });

  it('is in a file that steps cannot write', async () => {
    const harness = await started(1);
    const code = `const fs = await import('node:fs');
try { fs.ftruncateSync(5, 2 ** 33) } catch (error) { return { text: error.code } }
return { text: 'written' }`;
    const end = await harness.run(node('writes', code, { out: out({ text: { type: 'string' } }) }), version);
    assert.deepEqual(end.returned, { text: 'EINVAL' });
  });

  it('shows what node reports of a step to no other step', async () => {
    const harness = await started(1);
    const run = (step: CodeStep) => harness.run(step, version);
    await run(waits('warm', 0, 0));
    const said = run(node('says', 'await null; Buffer(1); return { n: 1 }', OUT));
    const prints = run(node('prints', "console.log('mine'); return { n: 2 }", OUT));
    assert.deepEqual((await said).returned, { n: 1 });
    assert.equal((await prints).log?.text, 'mine\n');
  });

  it('leaves no descriptor if the process cannot be started', async () => {
    const harness = await started(1);
    const count = () => readdirSync('/proc/self/fd').filter((name) => openFile(name).includes('/tickets')).length;
    const secrets = new Map([['BIG', 'x'.repeat(1 << 20)]]);
    const step = { ...waits('starts', 1, 0), secrets: ['BIG'] };
    const before = count();
    for (let i = 0; i < 5; i++) {
      const end = await harness.run(step, { secrets, versionId: `ver_${i}` });
      assert.equal(end.failure?.message, 'A process for the step could not be started');
    }
    assert.equal(count(), before);
  });

  it('continues after a step was stopped after its end', async () => {
    const harness = await started(1);
    const run = (step: CodeStep, more = {}) => harness.run(step, { ...version, ...more });
    await run(waits('warm', 0, 0));
    const stop = new AbortController();
    const first = run(waits('first', 1, 100));
    const second = run(waits('second', 2, 0), { stop: new RunStop(stop.signal) });
    const third = run(waits('third', 3, 1_500));
    await until('the steps wait in line', () => harness.runners.queuedCount === 2);
    // This turn is longer than the first two take: their ends have arrived, and are read after the stop.
    await new Promise((go) => setImmediate(go));
    for (const end = performance.now() + 900; performance.now() < end; );
    stop.abort();
    assert.notEqual((await second.catch((error: Error) => error)) as unknown, null);
    assert.deepEqual((await first).returned, { n: 1 });
    assert.deepEqual((await third).returned, { n: 3 });
  });
});
