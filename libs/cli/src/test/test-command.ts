// `methods test`: runs the tests in method files.
import { tmpdir } from 'node:os';
import { PLAIN_ENVIRONMENT, type PreparedEnvironment } from '@methods/executor/prepared-environment';
import type { StepEnd } from '@methods/executor/run-outcome';
import type { CompiledCheck, CompiledMethod, CompiledStep, MethodTest } from '@methods/method/compiled-method';
import { hintNearest } from '@methods/method/source/did-you-mean';
import type { Command, CommandContext } from '../command/command.ts';
import { EXIT, UsageError } from '../errors/command-error.ts';
import { TEST_WORDS } from '../help-words.ts';
import { type ExecutorParts, startExecutorParts } from '../local-run/executor-parts.ts';
import { prepareMethod } from '../local-run/local-dependencies.ts';
import { compileToRun } from '../method-file/local-method.ts';
import { readMethodFile } from '../method-file/method-file.ts';
import { plainText } from '../terminal/plain-text.ts';
import { countOf } from '../terminal/words.ts';
import { unmetExpectations } from './expectations.ts';
import { runTest } from './run-test.ts';
import { withoutRounds } from './step-pattern.ts';

interface TestVerdict {
  readonly file: string;
  readonly name: string;
  readonly ok: boolean;
  /** The differences from the expected outcome, one a line; null: the test passed. */
  readonly message: string | null;
}

interface TestedFile {
  readonly file: string;
  readonly method: CompiledMethod;
  readonly tests: readonly MethodTest[];
}

export const testCommand: Command = {
  ...TEST_WORDS,

  async run(line, context) {
    const { output, config, interrupted } = context;
    const files = await readFiles(line.operands, line.text('only'), context);
    const executor = startExecutorParts(tmpdir(), config);
    const verdicts: TestVerdict[] = [];
    const uncovered: (NeverReached & { readonly file: string })[] = [];
    try {
      for (const file of files) {
        if (file.tests.length === 0) output.note(`${file.file} has no tests`);
        const coverage = new Coverage();
        const environment = await environmentOf(file, context);
        for (const test of file.tests) {
          if (interrupted.aborted) return EXIT.interrupted;
          const verdict = await judge({ ...file, environment }, test, executor, coverage, interrupted);
          verdicts.push(verdict);
          show(verdict, context);
        }
        uncovered.push({ file: file.file, ...coverage.neverReached(file.method) });
      }
    } finally {
      await executor.stop();
    }
    const failed = verdicts.filter((verdict) => !verdict.ok).length;
    output.document({
      ok: failed === 0,
      tests: verdicts,
      ...(line.flag('coverage') ? { never_reached: uncovered } : {}),
    });
    if (line.flag('coverage')) for (const file of uncovered) showCoverage(file, context);
    output.line(`${countOf(verdicts.length - failed, 'test')} passed${failed === 0 ? '' : `, ${failed} failed`}`);
    return failed === 0 ? EXIT.done : EXIT.failed;
  },
};

async function readFiles(
  names: readonly string[],
  only: string | undefined,
  { cwd, output }: CommandContext,
): Promise<TestedFile[]> {
  const files: TestedFile[] = [];
  for (const name of names) {
    const { method } = compileToRun(await readMethodFile(name, cwd), cwd, output);
    files.push({ file: name, method, tests: method.tests });
  }
  if (only === undefined) return files;
  const all = files.flatMap((file) => file.tests.map((test) => test.name));
  if (!all.includes(only)) throw new UsageError(`no test is called "${only}"`, hintNearest(only, all, 'tests'));
  return files.map((file) => ({ ...file, tests: file.tests.filter((test) => test.name === only) }));
}

/** Called methods are mocked, so only the method's own packages are needed, and none if nothing runs. */
async function environmentOf({ method, tests }: TestedFile, context: CommandContext): Promise<PreparedEnvironment> {
  if (tests.length === 0) return PLAIN_ENVIRONMENT;
  return (await prepareMethod({ method, called: new Map() }, context)).environment;
}

async function judge(
  tested: TestedFile & { readonly environment: PreparedEnvironment },
  test: MethodTest,
  { runners }: ExecutorParts,
  coverage: Coverage,
  interrupted: AbortSignal,
): Promise<TestVerdict> {
  const { file, method } = tested;
  const { run, faults } = await runTest(tested, test, runners, interrupted);
  if (run !== null) coverage.add(run.records);
  const unmet = run === null || faults.length > 0 ? faults : unmetExpectations(method, test, run);
  return { file, name: test.name, ok: unmet.length === 0, message: unmet.length === 0 ? null : unmet.join('\n') };
}

function show({ ok, name, message }: TestVerdict, { output }: CommandContext): void {
  const mark = ok ? output.paint('green', 'passed') : output.paint('red', 'failed');
  // With --quiet only what failed is shown.
  const line = `${mark} ${plainText(name)}`;
  if (ok) output.line(line);
  else output.result(line);
  if (message !== null) output.result(plainText(message).replace(/^/gm, '       '));
}

function showCoverage({ file, steps, checks }: NeverReached & { file: string }, { output }: CommandContext): void {
  if (steps.length + checks.length === 0) {
    output.result(`${file}: every step and check was reached`);
    return;
  }
  output.result(`${file}: never reached`);
  for (const step of steps) output.result(`  step ${step}`);
  for (const check of checks) output.result(`  check ${check.step}: ${check.name}`);
}

interface NeverReached {
  /** Paths as in the source. */
  readonly steps: readonly string[];
  readonly checks: readonly { readonly step: string; readonly name: string }[];
}

/** Steps and checks of a method that none of its tests reached. */
class Coverage {
  private readonly acted = new Set<string>();
  private readonly judged = new Set<string>();

  add(records: readonly StepEnd[]): void {
    for (const { path, status, checks } of records) {
      const place = withoutRounds(path);
      if (status !== 'skipped') this.acted.add(place);
      for (const check of checks) this.judged.add(`${place}\n${check.name}`);
    }
  }

  neverReached(method: CompiledMethod): NeverReached {
    const steps: string[] = [];
    const checks: { step: string; name: string }[] = [];
    const judge = (step: string, list: readonly CompiledCheck[]) => {
      for (const { name } of list) if (!this.judged.has(`${step}\n${name}`)) checks.push({ step, name });
    };
    const walk = (list: readonly CompiledStep[], above: string) => {
      for (const step of list) {
        const path = above + step.name;
        if (!this.acted.has(path)) steps.push(path);
        judge(path, [...step.require, ...(step.kind === 'check' ? step.checks : []), ...step.ensure]);
        if (step.kind === 'steps' || step.kind === 'parallel') walk(step.steps, `${path}/`);
      }
    };
    judge('@require', method.require);
    walk(method.steps, '');
    judge('@ensure', method.ensure);
    walk(method.onFailure, 'on_failure/');
    walk(method.finally, 'finally/');
    return { steps, checks };
  }
}
