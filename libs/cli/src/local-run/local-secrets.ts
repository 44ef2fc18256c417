// The secrets of a local run come from the environment; all that are missing are named before the first step.
import type { DeclaredSecret } from '@methods/method/compiled-method';
import { CommandError } from '../errors/command-error.ts';
import type { LocalMethod } from '../method-file/local-method.ts';

/** @throws CommandError `secret_missing`. Values too short to be masked are the run's own failure. */
export function refuseMissingSecrets({ method, called }: LocalMethod, variables: ReadonlyMap<string, string>): void {
  const declared = new Map<string, DeclaredSecret>();
  for (const inner of [...called.values()].map((each) => each.method)) {
    for (const secret of inner.secrets) declared.set(secret.name, secret);
  }
  for (const secret of method.secrets) declared.set(secret.name, secret);
  const missing = [...declared.values()].filter(({ name }) => (variables.get(name) ?? '') === '');
  const [first] = missing;
  if (first === undefined) return;
  const names = missing.map(({ name, note }) => (note === undefined ? name : `${name} (${note})`)).join(', ');
  const many = missing.length > 1;
  throw new CommandError('secret_missing', `the secret${many ? 's' : ''} ${names} ${many ? 'are' : 'is'} not set`, {
    hint: `set ${many ? 'them' : 'it'} in the environment:  export ${first.name}=…`,
  });
}
