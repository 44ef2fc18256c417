// The secrets that a run may use: those its method declares, with the values of the worker's environment.
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { RunError } from '../run-outcome.ts';
import { createMask, type Mask } from './mask.ts';
import { SECRET_CHARACTERS_MIN, withoutBreaks } from './secret-forms.ts';

export interface DeclaredSecrets {
  readonly values: ReadonlyMap<string, string>;
  /** All that the mask covers. */
  readonly covered: ReadonlyMap<string, string>;
  readonly mask: Mask;
}

const known = new WeakMap<CompiledMethod, DeclaredSecrets>();

/** A mask costs hundreds of encodings, so one is cached for each method; changed values get a new one. */
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
    // Line breaks are not part of the search.
    if (withoutBreaks(value).length < SECRET_CHARACTERS_MIN) {
      const message = `The secret ${name} is shorter than ${SECRET_CHARACTERS_MIN} characters and could not be masked`;
      return { code: 'secret_too_short', kind: 'secret', message };
    }
    values.set(name, value);
  }
  const declared = { values, covered: values, mask: createMask(values) };
  known.set(method, declared);
  return declared;
}

const knownCalled = new WeakMap<CompiledMethod, { readonly around: Mask; readonly declared: DeclaredSecrets }>();

/** Returns those of a called method: its own values, and a mask that also covers the methods around it. */
export function calledSecrets(
  method: CompiledMethod,
  environment: ReadonlyMap<string, string>,
  around: DeclaredSecrets,
): DeclaredSecrets | RunError {
  const own = declaredSecrets(method, environment);
  if ('code' in own) return own;
  const covered = { ...own, covered: new Map([...around.covered, ...own.values]) };
  if (covered.covered.size === around.covered.size) return { ...covered, mask: around.mask };
  const before = knownCalled.get(method);
  if (before?.around === around.mask && before.declared.values === own.values) return before.declared;
  const declared = { ...covered, mask: createMask(covered.covered) };
  knownCalled.set(method, { around: around.mask, declared });
  return declared;
}
