// A person's folder on the machine of a running stack: the command there finds the stack by itself.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliFolder } from '@methods/cli/cli.fixture';
import type { Stack } from '../e2e/stack.ts';

export interface StackDesk {
  readonly folder: CliFolder;
  readonly env: Readonly<Record<string, string>>;
}

/** `address`: where the stack is found, if not at its own. */
export async function stackDesk({ ready }: Stack, address = ready.base_url): Promise<StackDesk> {
  const folder = await CliFolder.make();
  const state = join(folder.dir, '.state');
  await mkdir(join(state, 'methods', 'stacks'), { recursive: true });
  await writeFile(join(state, 'methods', 'stacks', 'one.json'), JSON.stringify({ ...ready, base_url: address }));
  return { folder, env: { XDG_STATE_HOME: state, METHODS_TOKEN_STORE: 'file', PATH: process.env.PATH ?? '' } };
}
