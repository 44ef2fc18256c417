// The parts of a method that only its source defines: inputs, result, questions and dependencies.
import { compileMethod } from '@methods/method/compile';
import type { CompiledMethod, CompiledStep, MethodDependencies } from '@methods/method/compiled-method';
import type { JsonSchema } from '@methods/method/json';

export interface SourceInterface {
  /** JSON Schemas 2020-12 of the inputs and of the result. */
  readonly inputs: JsonSchema;
  readonly result_schema: JsonSchema;
  readonly questions: readonly DeclaredQuestion[];
  readonly dependencies: MethodDependencies;
}

/** A step that asks. */
export interface DeclaredQuestion {
  /** The step's path, such as `review/approve` or `on_failure/tell`. */
  readonly step: string;
  readonly title?: string;
  /** JSON Schema of the answer. */
  readonly form: JsonSchema;
  /** How long the answer may take; null: indefinitely. */
  readonly timeout_ms: number | null;
}

/** Null for workflow/1, which is stored without being parsed. */
export function sourceInterface(source: Uint8Array): SourceInterface | null {
  const { method } = compileMethod(source, { saved: true });
  if (method === null) return null;
  return {
    inputs: method.inputSchema,
    result_schema: method.resultSchema,
    questions: questionsOf(method),
    dependencies: method.dependencies,
  };
}

function questionsOf({ steps, onFailure, finally: last }: CompiledMethod): DeclaredQuestion[] {
  const questions: DeclaredQuestion[] = [];
  const visit = (step: CompiledStep, folder: string) => {
    const path = `${folder}${step.name}`;
    if (step.kind === 'steps' || step.kind === 'parallel') for (const inner of step.steps) visit(inner, `${path}/`);
    if (step.kind !== 'ask') return;
    const title = step.title === undefined ? {} : { title: step.title };
    questions.push({ step: path, ...title, form: step.form, timeout_ms: step.limits.timeoutMs });
  };
  for (const step of steps) visit(step, '');
  for (const step of onFailure) visit(step, 'on_failure/');
  for (const step of last) visit(step, 'finally/');
  return questions;
}
