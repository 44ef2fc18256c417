// Reads the facts of a saved source that the gateway needs. Pure, and as expensive as its author makes it: long sources
// are read in a thread.
import { assert } from '@methods/base/assert';
import { compileMethod } from '@methods/method/compile';
import type { CompiledMethod } from '@methods/method/compiled-method';
import { specialFeatures } from '@methods/method/features';
import type { JsonSchema } from '@methods/method/json';
import { goesOnAfterFailure, namesAnswerers, onlyComputes } from '@methods/method/method-facts';
import { sourceInterface } from '../views/source-interface.ts';
import type { DeclaredStep } from '../views/step-view.ts';

/** The facts that a start of the method needs. */
export interface StartFacts {
  readonly inputSchema: JsonSchema;
  /** Features that a worker must have. */
  readonly needs: readonly string[];
  readonly steps: readonly DeclaredStep[];
  /** It has a `require` that refuses inputs. */
  readonly hasRequirements: boolean;
  /** A failed step may leave cleanup to do. */
  readonly cleansUp: boolean;
  /** The method's steps have no effect outside of it. */
  readonly onlyComputes: boolean;
  /** A question has rules about who answers it. */
  readonly namesAnswerers: boolean;
}

/** Of a saved source that is not workflow/1. */
export function compiledSource(source: Uint8Array): CompiledMethod {
  const { method } = compileMethod(source, { saved: true });
  assert(method, 'the saved source does not compile');
  return method;
}

export function startFacts(method: CompiledMethod): StartFacts {
  const { inputSchema, features, steps, require } = method;
  return {
    inputSchema,
    needs: specialFeatures(features),
    steps: steps.map(({ name, kind }) => ({ name, kind })),
    hasRequirements: require.some(({ level }) => level === 'error'),
    cleansUp: goesOnAfterFailure(method),
    onlyComputes: onlyComputes(method),
    namesAnswerers: namesAnswerers(method),
  };
}

/** JSON of a `SourceInterface` without its braces; empty for workflow/1. */
export function interfaceFieldsJson(source: Uint8Array): string {
  const described = sourceInterface(source);
  return described === null ? '' : JSON.stringify(described).slice(1, -1);
}
