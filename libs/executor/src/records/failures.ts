// Any error of a step as one of the language's kinds with a message that is safe to keep.
import type { CompiledStep } from '@methods/method/compiled-method';
import { ExpressionError } from '@methods/method/evaluate';
import { StepFailure } from '../step-failure.ts';

/** Any error as a step's failure, with the step's line where the error names none. */
export function failureOf(error: unknown, step: CompiledStep): StepFailure {
  const failure = asFailure(error);
  return new StepFailure(failure.kind, failure.message, { line: step.line, ...failure.detail });
}

/** An error of no known kind is our own fault: its message could hold content and stays here. */
export function asFailure(error: unknown): StepFailure {
  if (error instanceof StepFailure) return error;
  if (error instanceof ExpressionError) return new StepFailure('expression', error.message);
  // The stack overflowed: a value nests too deep for a check or a text.
  if (error instanceof RangeError) return new StepFailure('limit', 'A value nests too deep or is too large');
  return new StepFailure('internal', 'The step could not be run');
}
