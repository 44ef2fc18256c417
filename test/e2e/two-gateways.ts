// One running stack of two gateways, whose people sign in. The runner builds the files that ask for it into one process
// (test/runner/shared-processes.ts), in the order of their names.
import { after } from 'node:test';
import { type Stack, startStack } from './stack.ts';

let common: Promise<Stack> | undefined;

// Of the process: when the tests of all its files have ended.
after(async () => (await common?.catch(() => undefined))?.stop());

export function commonStack(): Promise<Stack> {
  common ??= startStack('two-gateways', { args: ['--gateways', '2'] });
  return common;
}
