// Chooses the server of a command: the given one, that of the last sign-in, or the local stack.

import type { CommandLine } from '../command/command-line.ts';
import type { Config } from '../config.ts';
import { CommandError, UsageError } from '../errors/command-error.ts';
import { serverAddress } from '../server/server-facts.ts';
import { lastSignIn } from '../sign-in/last-sign-in.ts';
import { type LocalStack, localStacks } from './local-stacks.ts';

export interface ChosenServer {
  readonly baseUrl: string;
  /** Why this one. */
  readonly from: 'option' | 'environment' | 'sign-in' | 'local-stack';
  /** The stack at this address on this machine, if there is one. */
  readonly stack: LocalStack | null;
}

/** The line has the option `server`. @throws UsageError of several stacks; CommandError `no_server`. */
export async function chooseServer(line: CommandLine, config: Config): Promise<ChosenServer> {
  const stacks = await localStacks(config.stateDir);
  const chosen = (baseUrl: string, from: ChosenServer['from']): ChosenServer => ({
    baseUrl,
    from,
    stack: stacks.find((stack) => serverAddress(stack.baseUrl, 'a local stack') === baseUrl) ?? null,
  });
  const option = line.text('server');
  if (option !== undefined) return chosen(serverAddress(option, '--server'), 'option');
  if (config.server !== null) return chosen(serverAddress(config.server, 'METHODS_SERVER'), 'environment');
  const last = await lastSignIn(config.stateDir);
  if (last !== null) return chosen(last.server, 'sign-in');
  const [only, ...others] = stacks;
  if (only === undefined) {
    const hint = 'sign in with  methods login --server URL,  or start a local stack with  methods dev';
    throw new CommandError('no_server', 'no server is known', { hint });
  }
  if (others.length > 0) {
    const addresses = stacks.map(({ baseUrl }) => baseUrl).join(', ');
    throw new UsageError(`several local stacks are running: ${addresses}`, 'choose one with --server URL');
  }
  return chosen(serverAddress(only.baseUrl, 'a local stack'), 'local-stack');
}
