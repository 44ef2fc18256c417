// Runs one test of a method: a whole run with mocks for the world, in a temporary folder.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@methods/base/clock';
import { executeRun } from '@methods/executor/execute-run';
import type { PreparedEnvironment } from '@methods/executor/prepared-environment';
import { RunFolder } from '@methods/executor/run-folder';
import type { CheckRecord, RunOutcome, StepEnd } from '@methods/executor/run-outcome';
import type { RunnerPool } from '@methods/executor/runner-pool';
import type { Substitute, SubstitutedAction, Substitution } from '@methods/executor/substitute';
import { compileCheck } from '@methods/method/check-value';
import type { CompiledMethod, MethodTest, StepKind } from '@methods/method/compiled-method';
import { isJsonList, isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { fileFields } from '@methods/method/typed-fields';
import { withFileReferences } from '@methods/method/types/file-schema';
import { inputFile, withFiles } from '../local-run/input-files.ts';
import { matchPath } from './step-pattern.ts';

/** They act on the world, or wait for it: without a mock they are not run. */
const MUST_BE_MOCKED: readonly StepKind[] = ['http', 'call', 'wait'];

/** The outcome of a run under test. */
export interface TestedRun {
  readonly outcome: RunOutcome;
  readonly inputs: JsonObject;
  readonly records: readonly StepEnd[];
}

export interface TestEnd {
  /** Null: the test's own inputs do not fit, and nothing ran. */
  readonly run: TestedRun | null;
  /** The fault of the test itself. */
  readonly faults: readonly string[];
}

/** There are no delays between tries. */
const hastyClock: Clock = { ...systemClock, after: (_delayMs, run) => systemClock.after(0, run) };

export async function runTest(
  { method, environment }: { readonly method: CompiledMethod; readonly environment: PreparedEnvironment },
  test: MethodTest,
  runners: RunnerPool,
  signal: AbortSignal,
): Promise<TestEnd> {
  const standIns = new StandIns(test);
  const records: StepEnd[] = [];
  const base = await mkdtemp(join(tmpdir(), 'methods-test-'));
  try {
    const folder = RunFolder.create(base, 'run_a');
    const given = await withWrittenFiles(folder, method, test.inputs);
    const checked = compileCheck(withFileReferences(method.inputSchema))(given);
    if (!checked.ok) {
      return { run: null, faults: checked.findings.map(({ path, message }) => `inputs${path}: ${message}`) };
    }
    const inputs = checked.value as JsonObject;
    const outcome = await executeRun({
      runId: 'run_test',
      versionId: `local-${method.name}`,
      startedAtMs: systemClock.wallMs(),
      method,
      inputs,
      finished: new Map(),
      secrets: secretsOf(method, test),
      journal: {
        stepEnded: async (record) => {
          records.push(record);
        },
      },
      runners,
      fetch: () => Promise.reject(new TypeError('tests send no requests')),
      folder,
      signal,
      clock: hastyClock,
      environment,
      substitute: standIns.substitute,
      random: () => 0.5,
    });
    if (outcome.lastRecord !== undefined) records.push(outcome.lastRecord);
    return { run: { outcome, inputs, records }, faults: [...new Set(standIns.missing)] };
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

/** Replaces each `{ $file: text }` in a file's place of the inputs by a file with that text. */
async function withWrittenFiles(folder: RunFolder, method: CompiledMethod, inputs: JsonValue): Promise<JsonValue> {
  const written = new Map<JsonObject, JsonObject>();
  for (const { file, path } of fileFields(method.inputSchema, inputs)) {
    const { $file, ...more } = file;
    if (typeof $file !== 'string' || Object.keys(more).length > 0) continue;
    const content = async function* () {
      yield Buffer.from($file);
    };
    written.set(file, await folder.write(inputFile(written.size), `${path.join('-')}.txt`, content(), 'text/plain'));
  }
  return withFiles(inputs, written);
}

/** Real secrets are never used in a test; those that it does not name get a harmless value. */
function secretsOf(method: CompiledMethod, test: MethodTest): Map<string, string> {
  return new Map(method.secrets.map(({ name }) => [name, test.secrets.get(name) ?? `test-value-of-${name}`]));
}

export function failedChecks(records: readonly StepEnd[]): CheckRecord[] {
  return records.flatMap((record) => record.checks).filter((check) => check.status !== 'passed');
}

/** The replacements of the world in a test: mocks and answers, by step. Code really runs. */
class StandIns {
  /** Values that a test must give and does not. */
  readonly missing: string[] = [];
  readonly substitute: Substitute = (action) => this.standInFor(action);

  constructor(private readonly test: Pick<MethodTest, 'mock' | 'answers'>) {}

  private standInFor(action: SubstitutedAction): Substitution | null {
    const { step, path } = action;
    const given = valueFor(step.kind === 'ask' ? this.test.answers : this.test.mock, path);
    if (given !== undefined) return substitutionOf(given);
    if (!MUST_BE_MOCKED.includes(step.kind)) return null;
    const example = step.kind === 'wait' ? '{}' : '{ … }';
    this.missing.push(`the ${step.kind} step ${path} is not mocked: add  mock: { ${step.name}: ${example} }`);
    return { error: { kind: 'internal', message: 'The step is not mocked' } };
  }
}

function valueFor(values: ReadonlyMap<string, JsonValue>, path: string): JsonValue | undefined {
  let best: { readonly exact: number; readonly value: JsonValue | undefined } | null = null;
  for (const [pattern, value] of values) {
    const match = matchPath(pattern, path);
    if (match === null || (best !== null && best.exact >= match.exact)) continue;
    best = { exact: match.exact, value: isJsonList(value) && match.open !== null ? value[match.open] : value };
  }
  // Null means a skipped round; one that is not skipped has no mock.
  return best?.value ?? undefined;
}

function substitutionOf(value: JsonValue): Substitution {
  const error = isJsonObject(value) ? value.$error : undefined;
  if (!isJsonObject(error)) return { out: value };
  // The compiler has checked its shape.
  return { error } as unknown as Substitution;
}
