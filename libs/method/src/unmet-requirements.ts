// Owns the judgement of a method's own `require`, which sees inputs only: a server asks it before a run exists.
import type { CompiledMethod } from './compiled-method.ts';
import { ExpressionError, evaluate } from './evaluate.ts';
import type { JsonObject } from './json.ts';

const NO_RUN = { id: '', started_at: '', version_id: '' };

/** The sentences of the checks at level `error` that these inputs (checked, with defaults) do not meet. Never throws. */
export function unmetRequirements({ require }: CompiledMethod, inputs: JsonObject): string[] {
  const scope = { inputs, run: NO_RUN, steps: {} };
  const holds = (that: CompiledMethod['require'][number]['that']) => {
    try {
      return evaluate(that, scope) === true;
    } catch (error) {
      if (error instanceof ExpressionError) return false;
      throw error;
    }
  };
  return require.filter(({ level, that }) => level === 'error' && !holds(that)).map(({ name }) => name);
}
