// Compares a tested run with the test's expectations.

import type { RunOutcome, StepEnd } from '@methods/executor/run-outcome';
import { refusalText } from '@methods/method/answer-checks';
import type { CompiledMethod, CompiledStep, MethodTest, TestExpectation } from '@methods/method/compiled-method';
import { ExpressionError, evaluate, type Scope } from '@methods/method/evaluate';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { failedChecks, type TestedRun } from './run-test.ts';
import { matchPath } from './step-pattern.ts';

/** The differences from the expected outcome, one line each; empty: the test passed. */
export function unmetExpectations(method: CompiledMethod, { expect }: MethodTest, run: TestedRun): string[] {
  const { outcome, records } = run;
  const unmet = statusFault(expect, outcome);
  // The result of a run that ended otherwise is not compared.
  if (unmet !== null) return [unmet];
  const result = outcome.status === 'succeeded' ? outcome.result : {};
  return [
    ...(expect.result === null ? [] : differences(expect.result, result, 'result')),
    ...expect.skipped.flatMap((pattern) => skipFault(pattern, records)),
    ...failedStepFault(expect, outcome),
    ...checkFaults(expect, records, outcome),
    ...thatFaults(expect, scopeOf(method, run, result)),
  ];
}

function statusFault(expect: TestExpectation, outcome: RunOutcome): string | null {
  const wanted = expect.status ?? (expect.failedStep === null ? 'succeeded' : 'failed');
  const either = expect.status === null && expect.checksFailed.length > 0;
  const isRefused = outcome.status === 'waiting' && (outcome.question.refused ?? []).length > 0;
  if (outcome.status === wanted || (either && (outcome.status === 'failed' || isRefused))) return null;
  const said = `expected the run to have ${wanted === 'waiting' ? 'stopped at a question' : wanted}`;
  switch (outcome.status) {
    case 'failed': {
      const { step, message } = outcome.error;
      return `${said}, but ${step === undefined ? 'it' : `step ${step}`} failed: ${message}`;
    }
    case 'waiting':
      if (isRefused)
        return `${said}, but the answer to ${outcome.question.step} was refused: ${(outcome.question.refused ?? []).map(refusalText).join('; ')}`;
      return `${said}, but it waits: add  answers: { ${outcome.question.step}: { … } }`;
    case 'succeeded':
      return `${said}, but it succeeded with ${shown(outcome.result)}`;
    default:
      return `${said}, but it was stopped`;
  }
}

/** A step inside a skipped one has no record of its own. */
function skipFault(pattern: string, records: readonly StepEnd[]): string[] {
  const found = records.filter(({ path }) => matchPath(pattern, path) !== null);
  if (found.length > 0 && found.every(({ status }) => status === 'skipped')) return [];
  const parts = pattern.split('/');
  const above = parts.map((_, length) => parts.slice(0, length).join('/'));
  const inSkipped = records.some(
    ({ path, status }) => status === 'skipped' && above.some((group) => matchPath(group, path) !== null),
  );
  if (found.length === 0 && inSkipped) return [];
  const what = found.length === 0 ? 'was never reached' : (found.find((it) => it.status !== 'skipped')?.status ?? '');
  return [`expected step ${pattern} to be skipped, but it ${what}`];
}

function failedStepFault({ failedStep }: TestExpectation, outcome: RunOutcome): string[] {
  if (failedStep === null) return [];
  const failed = outcome.status === 'failed' ? outcome.error.step : undefined;
  if (failed !== undefined && matchPath(failedStep, failed) !== null) return [];
  return [`expected step ${failedStep} to fail, but ${failed === undefined ? 'none' : failed} did`];
}

function checkFaults({ checksFailed }: TestExpectation, records: readonly StepEnd[], outcome: RunOutcome): string[] {
  const refused = outcome.status === 'waiting' ? (outcome.question.refused ?? []).map(({ name }) => name) : [];
  const failed = [...failedChecks(records).map(({ name }) => name), ...refused];
  return checksFailed
    .filter((name) => !failed.includes(name))
    .map(
      (name) => `expected the check "${name}" to fail; failed: ${failed.map((it) => `"${it}"`).join(', ') || 'none'}`,
    );
}

function thatFaults({ that }: TestExpectation, scope: Scope): string[] {
  return that.flatMap((check) => {
    try {
      if (evaluate(check.that, scope) === true) return [];
      const values = check.that.paths.map((path) => `${path} is ${shown(valueAt(path, scope))}`);
      return [`${check.name}: ${check.that.source} is false${values.length === 0 ? '' : `; ${values.join(', ')}`}`];
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return [`${check.name}: ${error.message}`];
    }
  });
}

function scopeOf(method: CompiledMethod, { inputs, records }: TestedRun, result: JsonObject): Scope {
  const outs = new Map(records.map((record) => [record.path, record.out]));
  const steps = Object.fromEntries(
    namedSteps(method.steps).map(([name, path, step]) => {
      return [name, outs.get(path) ?? (step.loop?.kind === 'each' ? emptyRounds(path, records) : null)];
    }),
  );
  const run = { id: 'run_test', started_at: new Date(0).toISOString(), version_id: 'test' };
  return { inputs, run, steps, result };
}

/** An `each` that was skipped as a whole: its readers see a null for each item. */
function emptyRounds(path: string, records: readonly StepEnd[]): JsonValue {
  const rounds = records.filter(
    (record) => record.path.startsWith(path) && /^\[\d+\]$/.test(record.path.slice(path.length)),
  );
  return rounds.map(() => null);
}

/** Names visible after the last step, with their paths: also those in plain groups, but not those inside rounds. */
function namedSteps(steps: readonly CompiledStep[], above = ''): (readonly [string, string, CompiledStep])[] {
  return steps.flatMap((step) => {
    const path = above + step.name;
    const inner =
      (step.kind === 'steps' || step.kind === 'parallel') && step.loop === null
        ? namedSteps(step.steps, `${path}/`)
        : [];
    return [[step.name, path, step] as const, ...inner];
  });
}

function valueAt(path: string, scope: Scope): JsonValue {
  let value: JsonValue | undefined = scope as unknown as JsonObject;
  for (const name of path.split(/[.[\]?]+/).filter((part) => part !== '')) {
    if (value === null || typeof value !== 'object') return null;
    value = isJsonObject(value) ? (Object.hasOwn(value, name) ? value[name] : null) : (value[Number(name)] ?? null);
  }
  return value ?? null;
}

const SHOWN_MAX = 200;
const DIFFERENCES_MAX = 20;

/** One line a difference, such as `result.total: expected 80, got 79`; empty when the value fits. */
export function differences(expected: JsonValue, actual: JsonValue | undefined, path: string): string[] {
  return [...walk(expected, actual, path)].slice(0, DIFFERENCES_MAX);
}

function* walk(expected: JsonValue, actual: JsonValue | undefined, path: string): Generator<string> {
  if (isJsonObject(expected) && isJsonObject(actual)) {
    for (const [name, value] of Object.entries(expected)) {
      yield* walk(value, Object.hasOwn(actual, name) ? actual[name] : undefined, `${path}.${name}`);
    }
  } else if (isJsonList(expected) && isJsonList(actual)) {
    if (expected.length !== actual.length) {
      yield `${path}: expected ${expected.length} items, got ${actual.length}: ${shown(actual)}`;
    } else {
      for (const [index, item] of expected.entries()) yield* walk(item, actual[index], `${path}[${index}]`);
    }
  } else if (expected !== (actual ?? null)) {
    yield `${path}: expected ${shown(expected)}, got ${actual === undefined ? 'nothing' : shown(actual)}`;
  }
}

/** A value on one line. */
function shown(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
