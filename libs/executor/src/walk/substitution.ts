// Asks the run's substitute, where there is one, for a step's action.
import type { CompiledStep } from '@methods/method/compiled-method';
import type { ActionEnd } from '../step-context.ts';
import { substituted } from '../substitute.ts';
import type { Turn } from './place.ts';
import type { Walker } from './walker.ts';

/** What stands in for the step's action; null: nothing does. Rejects where a file of it cannot be made. */
export async function substitutionOf(
  walker: Walker,
  step: CompiledStep,
  { place, path, round }: Turn,
  tryNumber: number,
): Promise<ActionEnd | null> {
  const { substitute, folder } = walker.run.options;
  if (substitute === undefined) return null;
  const substitution = await substitute({ step, path, round, tryNumber, scope: place.scope });
  return substitution === null ? null : substituted(substitution, { step, path }, folder);
}
