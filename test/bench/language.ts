// The workload `language`: what checking a method, an expression and a step cost, without a service around them.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '@methods/base/clock';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { PackageIndex } from '@methods/executor/dependencies/package-index.fixture';
import { RunnerPool } from '@methods/executor/runner-pool';
import { compileMethod } from '@methods/method/compile';
import { evaluate } from '@methods/method/evaluate';
import { addition, CONDITIONED, compiledMethod, emptyProcessMs, GREETING, PATH } from './language-methods.ts';
import { largeMethod } from './large-method.ts';
import { oneRunMs } from './one-run.ts';

const FIRST_STEP = new URL('./first-step.ts', import.meta.url);
const EVALUATIONS = 10_000;
const LANGUAGES = ['node', 'python', 'shell'] as const;

/** One line a figure: medians, with the goal where there is one. */
export async function measureLanguage(scale: number): Promise<string[]> {
  const times = (n: number) => Math.max(3, Math.ceil(n * scale));
  const folder = mkdtempSync(join(tmpdir(), 'methods-bench-'));
  const runners = new RunnerPool({ folder, runnersMax: 4, path: PATH, clock: systemClock });
  try {
    runners.start();
    const lines = [runners.isolation.text, ...(await validation(times(60))), await evaluation(times(30))];
    for (const language of LANGUAGES) {
      const method = addition(language);
      const run = () => oneRunMs({ method, inputs: { a: 1 }, runners, folder });
      const count = times(language === 'shell' ? 60 : 1_000);
      await medianOf(Math.ceil(count / 5), run);
      const [stepMs, emptyMs] = [await medianOf(count, run), await medianOf(times(30), () => emptyProcessMs(language))];
      lines.push(`${GOALS[language]}: ${stepMs.toFixed(2)} ms; an empty process ${emptyMs.toFixed(1)} ms`);
    }
    return [...lines, await firstStep(folder, times(12))];
  } finally {
    await runners.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const GOALS = {
  node: 'a warm node step (goal < 2 ms)',
  python: 'a warm python step (goal < 5 ms)',
  shell: 'a shell step, which has a process of its own',
};

async function validation(rounds: number): Promise<string[]> {
  const source = largeMethod(200);
  const check = async () => {
    const startedMs = performance.now();
    const { method, diagnostics } = compileMethod(source);
    if (method === null) throw new Error(`the large method is not valid: ${JSON.stringify(diagnostics)}`);
    return performance.now() - startedMs;
  };
  const firstMs = await check();
  await medianOf(20, check);
  const ms = await medianOf(rounds, check);
  const size = `${source.split('\n').length - 1} lines, ${Math.round(source.length / 1024)} KiB`;
  return [
    `validation of 200 steps, ${size} (goal < 50 ms): ${ms.toFixed(1)} ms; the very first ${firstMs.toFixed(0)} ms`,
  ];
}

function evaluation(rounds: number): Promise<string> {
  const condition = compiledMethod(CONDITIONED).steps[1]?.condition;
  if (condition === undefined) throw new Error('the step has no condition');
  const scope = { inputs: { amount: 200 }, run: { id: '', started_at: '', version_id: '' }, steps: { a: { x: null } } };
  const evaluations = async () => {
    const startedMs = performance.now();
    for (let i = 0; i < EVALUATIONS; i++) if (evaluate(condition, scope) !== true) throw new Error('it is true');
    return performance.now() - startedMs;
  };
  return medianOf(rounds, evaluations).then(
    (ms) => `${condition.source} (goal < 20 µs): ${((ms * 1000) / EVALUATIONS).toFixed(2)} µs`,
  );
}

/** The package comes from a registry of the bench's own, once; the processes find it prepared. */
async function firstStep(folder: string, rounds: number): Promise<string> {
  const index = await PackageIndex.start();
  try {
    await index.addNpm('greet', '1.0.0', { 'index.js': `export const greet = (name) => \`Hello \${name}\`` });
    const { dependencies } = compiledMethod(GREETING);
    const cacheDir = join(folder, 'cache');
    const { lock } = await index.prepare(dependencies, { cacheDir });
    const order = JSON.stringify({ folder, cacheDir, lock: Buffer.from(lock ?? []).toString() });
    const ms = await medianOf(rounds, async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [...nodeArguments(FIRST_STEP), order]);
      return Number(stdout);
    });
    return `a version prepared before, to the end of its first step in a new process (goal < 150 ms): ${ms.toFixed(0)} ms`;
  } finally {
    await index.stop();
  }
}

async function medianOf(rounds: number, measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) times.push(await measure());
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
}
