// The app's key: made, and put into its `.env` without being shown. An older one is replaced only where that is wanted.
import { basename } from 'node:path';
import type { CommandContext } from '../command/command.ts';
import { UsageError } from '../errors/command-error.ts';
import { makeKey, revokeKey, type ServerKey } from '../keys/key-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { askLine } from '../terminal/ask-line.ts';
import { type EnvFile, KEY_VARIABLE } from './env-file.ts';

const NAME_CHARACTERS_MAX = 200;

/** The key's name: that of the app's folder. @throws UsageError */
export function keyName(app: string): string {
  const name = basename(app).slice(0, NAME_CHARACTERS_MAX);
  if (name === '') throw new UsageError('an app has a folder of its own');
  return name;
}

/** Whether a key is to be made: there is none, or the older one is to go. `shown` is how the file is called. */
export async function wantsKey(
  env: EnvFile,
  shown: string,
  replace: boolean,
  { output, interrupted }: CommandContext,
): Promise<boolean> {
  if (!(await env.hasKey()) || replace) return true;
  if (!output.interactive) return false;
  const question = `${shown} has ${KEY_VARIABLE} already. Put a new key in its place? (y/N) `;
  return /^y(es)?$/i.test((await askLine(question, output, interrupted)) ?? '');
}

/** A key that could not be written is revoked: no one has it. @throws CommandError */
export async function keyInto(env: EnvFile, name: string, api: ServerApi): Promise<ServerKey> {
  const { key, serviceKey } = await makeKey(api, name);
  try {
    await env.setKey(serviceKey);
    return key;
  } catch (error) {
    await revokeKey(api, key.id).catch(() => {});
    throw error;
  }
}
