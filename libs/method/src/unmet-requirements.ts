// Owns the judgement of a method's own `require`, which sees inputs only: a server asks it before a run exists.
import type { CompiledMethod } from './compiled-method.ts';
import { ExpressionError, evaluate, FUEL } from './evaluate.ts';
import type { JsonObject } from './json.ts';

const NO_RUN = { id: '', started_at: '', version_id: '' };
/** The fuel of one expression for all checks together: a server's turn is shared. */
const FUEL_TOGETHER = FUEL;

/**
 * The sentences of the checks at level `error` that these inputs (checked, with defaults) do not meet. Checks that the
 * fuel does not reach are left to the run, which judges all of them again. Never throws.
 */
export function unmetRequirements({ require }: CompiledMethod, inputs: JsonObject): string[] {
  const scope = { inputs, run: NO_RUN, steps: {} };
  const tank = { left: FUEL_TOGETHER };
  const unmet: string[] = [];
  for (const { level, name, that } of require) {
    if (level !== 'error') continue;
    const last = tank.left < FUEL;
    try {
      if (evaluate(that, scope, tank) !== true) unmet.push(name);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      if (last && tank.left === 0) break;
      unmet.push(name);
    }
  }
  return unmet;
}
