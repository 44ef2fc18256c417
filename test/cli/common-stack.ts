// One running stack for the stories of the command line that leave it as they found it but for more keys, methods and
// runs. What lists everything there is runs first: files run in the order of their names.
import { after } from 'node:test';
import { type Stack, startStack } from '../e2e/stack.ts';

let common: Promise<Stack> | undefined;

// Of the process: when the tests of all its files have ended.
after(async () => (await common?.catch(() => undefined))?.stop());

export function commonStack(): Promise<Stack> {
  common ??= startStack('cli', { args: ['--mail'] });
  return common;
}
