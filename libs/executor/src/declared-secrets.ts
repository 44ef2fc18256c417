// The secrets a run may use: those its method declares, with the values of the worker's environment.
import type { CompiledMethod } from '@methods/method/compiled-method';
import { createMask, type Mask } from './mask.ts';
import type { RunError } from './run-outcome.ts';

/** Shorter values would be found, and masked, all over ordinary texts. */
const SECRET_CHARACTERS_MIN = 6;

export interface DeclaredSecrets {
  readonly values: ReadonlyMap<string, string>;
  readonly mask: Mask;
}

const known = new WeakMap<CompiledMethod, DeclaredSecrets>();

/** A mask costs hundreds of encodings, so one is kept for each method; values that changed make a new one. */
export function declaredSecrets(
  method: CompiledMethod,
  environment: ReadonlyMap<string, string>,
): DeclaredSecrets | RunError {
  const before = known.get(method);
  if (before && method.secrets.every(({ name }) => before.values.get(name) === environment.get(name))) return before;
  const values = new Map<string, string>();
  for (const { name } of method.secrets) {
    const value = environment.get(name);
    if (value === undefined || value === '') {
      return { code: 'secret_missing', kind: 'secret', message: `The secret ${name} is not set on the worker` };
    }
    if (value.length < SECRET_CHARACTERS_MIN) {
      const message = `The secret ${name} is shorter than ${SECRET_CHARACTERS_MIN} characters and could not be masked`;
      return { code: 'secret_too_short', kind: 'secret', message };
    }
    values.set(name, value);
  }
  const declared = { values, mask: createMask(values) };
  known.set(method, declared);
  return declared;
}
