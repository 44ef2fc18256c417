// Asks the run's substitute, where there is one, for a step's action.
import type { CompiledStep } from '@methods/method/compiled-method';
import type { ActionEnd } from '../step-context.ts';
import { type Substitute, substituted } from '../substitute.ts';
import type { Turn } from './place.ts';
import type { Walk } from './walk.ts';

/** The replacement of the step's action; null: there is none. Rejects where a file of it cannot be made. */
export function substitutionOf(
  walk: Walk,
  step: CompiledStep,
  turn: Turn,
  tryNumber: number,
): Promise<ActionEnd | null> | null {
  const { substitute } = walk.run.options;
  return substitute === undefined ? null : askSubstitute(substitute, walk, step, turn, tryNumber);
}

async function askSubstitute(
  substitute: Substitute,
  walk: Walk,
  step: CompiledStep,
  { place, path, round }: Turn,
  tryNumber: number,
): Promise<ActionEnd | null> {
  const substitution = await substitute({ step, path, round, tryNumber, scope: place.scope });
  return substitution === null ? null : substituted(substitution, { step, path }, walk.run.options.folder);
}
