// Finds the method that an app is connected with, and publishes its file if nothing of it is published yet.
import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { compileMethod } from '@methods/method/compile';
import type { JsonObject } from '@methods/method/json';
import { isFileName, namedMethod } from '../chosen-server/named-method.ts';
import type { CommandContext } from '../command/command.ts';
import { UsageError } from '../errors/command-error.ts';
import { readMethodFile } from '../method-file/method-file.ts';
import { saveChecked } from '../save/save-checked.ts';
import { getMethod, getSource, publishVersion, type ServerMethod } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { exampleInputs } from './example-inputs.ts';

export interface ConnectedMethod {
  readonly id: string;
  /** wf_… */
  readonly productionId: string;
  readonly displayName: string;
  /** The name in the source. */
  readonly name: string;
  readonly versionId: string;
  /** By this command. */
  readonly publishedNow: boolean;
  /** Names of the declared secrets. */
  readonly secrets: readonly string[];
  readonly inputs: JsonObject;
}

/** The word of `--method`, else the only method file here or in the app. @throws UsageError */
export async function methodWord(given: string | undefined, app: string, cwd: string): Promise<string> {
  if (given !== undefined) return given;
  for (const folder of new Set([cwd, app])) {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.method')).sort();
    const [only, ...others] = names;
    if (only === undefined) continue;
    if (others.length === 0) return relative(cwd, join(folder, only));
    throw new UsageError(`there are ${names.length} method files, and one is needed`, `--method ${only}`);
  }
  throw new UsageError(
    'there is no method file here',
    'name one with --method FILE, or a saved method with --method wf_…',
  );
}

/** @throws CommandError */
export async function connectedMethod(api: ServerApi, word: string, context: CommandContext): Promise<ConnectedMethod> {
  const { cwd } = context;
  let method: ServerMethod;
  if (await isFileName(word, cwd)) {
    const known = await namedMethod(api, word, cwd).catch((error) => {
      if ((error as { code?: string }).code === 'not_saved') return null;
      throw error;
    });
    method = known === null ? await savedMethod(api, word, context) : await getMethod(api, known.id);
    // For a file that was changed since, the present text is published: no other choice was ever made.
    if (known !== null && method.published_version === null) method = await savedMethod(api, word, context);
  } else method = await getMethod(api, (await namedMethod(api, word, cwd)).id);
  const publishedNow = method.published_version === null && method.current_version !== null;
  if (publishedNow) method = await publishVersion(api, method.id, method.current_version ?? '');
  return described(api, method, publishedNow);
}

async function savedMethod(
  api: ServerApi,
  word: string,
  { cwd, output, config }: Pick<CommandContext, 'cwd' | 'output' | 'config'>,
): Promise<ServerMethod> {
  const file = { ...(await readMethodFile(word, cwd)), path: resolve(cwd, word) };
  const { reply } = await saveChecked(api, file, { reason: '', onto: null }, { output, config });
  return { ...(await getMethod(api, reply.method_id)), current_version: reply.version_id };
}

async function described(api: ServerApi, method: ServerMethod, publishedNow: boolean): Promise<ConnectedMethod> {
  const version = await getSource(api, method.id, method.published_version);
  const compiled = compileMethod(version.source).method;
  return {
    id: method.id,
    productionId: method.production_id,
    displayName: method.display_name,
    name: compiled?.name ?? method.display_name,
    versionId: version.version_id,
    publishedNow,
    secrets: version.secrets,
    inputs: compiled === null ? {} : exampleInputs(compiled.inputSchema),
  };
}
