// For tests of the compiler: small methods, and what is found in them.
import assert from 'node:assert/strict';
import { type CompileOptions, compileMethod } from './compile.ts';
import type { CodeLanguage, CodeStep, CompiledMethod, CompiledStep, LaterStep, StepKind } from './compiled-method.ts';

const HEADER = `format: method/2
name: ab
inputs: { ids: list<string>, count: integer, note?: string, start: datetime, flag: boolean }
secrets: [API_TOKEN]
`;

/** A method with the inputs ids, count, note?, start, flag and the secret API_TOKEN around these lines. */
export function methodOf(tail: string): string {
  return `${HEADER}${tail}`;
}

/** The findings as `code line:column-end`, without the unused secret. Lines count from the first of `tail`. */
export function found(tail: string, options: CompileOptions = {}): string[] {
  const { diagnostics } = compileMethod(methodOf(tail), options);
  return diagnostics
    .filter(({ code }) => code !== 'M605')
    .map(({ code, line, column, end_column }) => `${code} ${line - 4}:${column}-${end_column}`);
}

/** The codes of the findings, without the unused secret. */
export function codesOf(tail: string, options: CompileOptions = {}): string[] {
  return found(tail, options).map((text) => text.slice(0, 4));
}

/** The hint of the only finding with this code. */
export function hintOf(code: string, tail: string, options: CompileOptions = {}): string {
  const { diagnostics } = compileMethod(methodOf(tail), options);
  const matching = diagnostics.filter((diagnostic) => diagnostic.code === code);
  assert.equal(matching.length, 1, JSON.stringify(diagnostics));
  return matching[0]?.hint ?? '';
}

/** The compiled method; fails with its errors. */
export function compiled(tail: string, options: CompileOptions = {}): CompiledMethod {
  const { method, diagnostics } = compileMethod(methodOf(tail), options);
  assert.ok(method, JSON.stringify(diagnostics, null, 1));
  return method;
}

type StepOf<K extends StepKind> = K extends CodeLanguage
  ? CodeStep
  : K extends LaterStep['kind']
    ? LaterStep
    : Extract<CompiledStep, { kind: K }>;

/** The step of this name and kind, at any depth. */
export function stepIn<K extends StepKind>(method: CompiledMethod, name: string, kind: K): StepOf<K> {
  const find = (steps: readonly CompiledStep[]): CompiledStep | undefined => {
    for (const step of steps) {
      const inner = step.kind === 'steps' || step.kind === 'parallel' ? find(step.steps) : undefined;
      if (step.name === name || inner) return step.name === name ? step : inner;
    }
    return undefined;
  };
  const step = find([...method.steps, ...method.onFailure, ...method.finally]);
  assert.equal(step?.kind, kind);
  return step as StepOf<K>;
}
