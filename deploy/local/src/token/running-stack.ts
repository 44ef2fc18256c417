// Finds the identity provider of the one running stack that is meant.
import { join } from 'node:path';
import { isStackRunning } from '../data-folder.ts';
import { StackError } from '../embedded/stack-error.ts';
import { keptTokenSecret } from '../identity/key-files.ts';
import { dataFoldersOfStacks } from '../ready-file.ts';
import { issuerOf } from '../sign-in.ts';

export interface ProviderOfStack {
  readonly issuer: string;
  readonly secret: string;
}

/** `dataDir` null: the only one that runs. @throws StackError `no_stack` or `several_stacks`. */
export function chooseStack(dataDir: string | null): ProviderOfStack {
  return providerOf(dataDir ?? onlyStack());
}

function onlyStack(): string {
  const running = dataFoldersOfStacks().filter(isStackRunning);
  const [first] = running;
  if (first === undefined) throw new StackError('no_stack', 'No local stack is running: start one with npm start.');
  if (running.length > 1)
    throw new StackError('several_stacks', `Several stacks are running; choose by --data-dir: ${running.join(', ')}.`);
  return first;
}

function providerOf(dataDir: string): ProviderOfStack {
  if (!isStackRunning(dataDir))
    throw new StackError('no_stack', `No stack is running with the data folder ${dataDir}.`);
  const folder = join(dataDir, 'identity-provider');
  const found = issuerOf(folder);
  if (found !== null && !found.embedded)
    throw new StackError('no_stack', `This stack's people sign in at ${found.issuer}: take a token from there.`);
  const secret = keptTokenSecret(folder);
  if (found === null || secret === null)
    throw new StackError('no_stack', `The stack with the data folder ${dataDir} is still starting.`);
  return { issuer: found.issuer, secret };
}
