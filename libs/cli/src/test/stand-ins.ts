// The replacements of the world in a test: mocks and answers, by step. Code really runs.
import type { Substitute, SubstitutedAction, Substitution } from '@methods/executor/substitute';
import type { MethodTest, StepKind } from '@methods/method/compiled-method';
import { isJsonList, isJsonObject, type JsonValue } from '@methods/method/json';
import { matchPath } from './step-pattern.ts';

/** They act on the world, or wait for it: without a mock they are not run. */
const MUST_BE_MOCKED: readonly StepKind[] = ['http', 'call', 'wait'];

export class StandIns {
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
