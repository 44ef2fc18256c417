// A saved version as the gateway needs it: which steps it has and which inputs it takes.
import { assert } from '@methods/base/assert';
import { compileCheck, TURN_EFFORT, type ValueCheck } from '@methods/method/check-value';
import { compileMethod } from '@methods/method/compile';
import { specialFeatures } from '@methods/method/features';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { unmetRequirements } from '@methods/method/unmet-requirements';
import type { Version } from '@methods/proto/registry/v1/method_pb';
import type { DeclaredStep } from '../views/step-view.ts';

export interface MethodVersion {
  readonly versionId: string;
  /** Null for workflow/1: it is kept and shown, but has to be rewritten before it can run. */
  readonly startable: StartableVersion | null;
  readonly steps: readonly DeclaredStep[];
  /** Estimated memory of all this. */
  readonly bytes: number;
}

export interface StartableVersion {
  /** Checks inputs and fills defaults in. */
  readonly checkInputs: (inputs: JsonValue) => ValueCheck;
  /** The method's `require` that checked inputs do not meet, by its sentences. */
  readonly unmet: (inputs: JsonObject) => readonly string[];
  /** Features that its worker must have. */
  readonly needs: readonly string[];
}

// Compiled schemas and their generated code are a multiple of the source they come from.
const BYTES_PER_SOURCE_BYTE = 20;
const BYTES_AT_LEAST = 20_000;

export function methodVersion(version: Version): MethodVersion {
  const { versionId, schemaVersion, source } = version;
  const bytes = BYTES_AT_LEAST + source.length * BYTES_PER_SOURCE_BYTE;
  if (schemaVersion === 'workflow/1') return { versionId, startable: null, steps: [], bytes };
  const { method } = compileMethod(source);
  assert(method, `the saved version ${versionId} does not compile`);
  const check = compileCheck(method.inputSchema);
  return {
    versionId,
    startable: {
      checkInputs: (inputs) => check(inputs, TURN_EFFORT),
      unmet: (inputs) => unmetRequirements(method, inputs),
      needs: specialFeatures(method.features),
    },
    steps: method.steps.map(({ name, kind }) => ({ name, kind })),
    bytes,
  };
}
