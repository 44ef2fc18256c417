// Finds the method that an app is connected with, publishes its file if nothing of it is published yet, and makes
// example inputs for the pasted code.
import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { compileMethod } from '@methods/method/compile';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  ownField,
} from '@methods/method/json';
import { numberOf, textOf } from '@methods/method/types/schema-keywords';
import { isFileName, namedMethod } from '../chosen-server/named-method.ts';
import type { CommandContext } from '../command/command.ts';
import { UsageError } from '../errors/command-error.ts';
import { readMethodFile } from '../method-file/method-file.ts';
import { saveChecked } from '../save/save-checked.ts';
import { getMethod, getSource, publishVersion, type ServerMethod } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';

const LEVELS_MAX = 16;
const ITEMS_MAX = 3;

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '7d1f0c3a-5a43-4c66-9d2b-0f6f6e1f8a10',
};

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

/** The required fields, each with a value of its type. Patterns are ignored: the author's `examples` are for that. */
export function exampleInputs(schema: JsonSchema): JsonObject {
  const definitions = ownField(schema, '$defs');
  const value = exampleOf(schema, isJsonObject(definitions) ? definitions : {}, 0);
  return isJsonObject(value) ? value : {};
}

function exampleOf(schema: JsonValue | undefined, definitions: JsonObject, level: number): JsonValue {
  if (!isJsonObject(schema) || level > LEVELS_MAX) return null;
  const given = ownField(schema, 'examples');
  if (isJsonList(given) && given[0] !== undefined) return given[0];
  for (const keyword of ['default', 'const']) {
    const value = ownField(schema, keyword);
    if (value !== undefined) return value;
  }
  const inner = (of: JsonValue | undefined) => exampleOf(of, definitions, level + 1);
  const name = /^#\/\$defs\/(.+)$/.exec(textOf(schema, '$ref'))?.[1];
  if (name !== undefined) return inner(ownField(definitions, name));
  for (const keyword of ['enum', 'anyOf', 'oneOf', 'allOf']) {
    const members = ownField(schema, keyword);
    if (!isJsonList(members)) continue;
    if (keyword === 'enum') return members[0] ?? null;
    return inner(members[0]);
  }
  const type = ownField(schema, 'type');
  switch (isJsonList(type) ? type[0] : type) {
    case 'string':
      return textFor(schema);
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return numberFor(schema);
    case 'array':
      return Array.from({ length: Math.min(numberOf(schema, 'minItems') ?? 1, ITEMS_MAX) }, () =>
        inner(ownField(schema, 'items')),
      );
    case 'object':
      return objectFor(schema, inner);
    default:
      return null;
  }
}

function objectFor(schema: JsonObject, inner: (of: JsonValue | undefined) => JsonValue): JsonObject {
  const properties = ownField(schema, 'properties');
  const required = ownField(schema, 'required');
  if (!isJsonObject(properties) || !isJsonList(required)) return {};
  const names = required.filter((name) => typeof name === 'string');
  return Object.fromEntries(names.map((name) => [name, inner(ownField(properties, name))])) as JsonObject;
}

function textFor(schema: JsonObject): string {
  const byFormat = BY_FORMAT[textOf(schema, 'format')];
  if (byFormat !== undefined) return byFormat;
  return 'text'
    .padEnd(Math.min(numberOf(schema, 'minLength') ?? 0, 80), ' text')
    .slice(0, numberOf(schema, 'maxLength'));
}

function numberFor(schema: JsonObject): number {
  const above = numberOf(schema, 'exclusiveMinimum');
  const least = above === undefined ? (numberOf(schema, 'minimum') ?? 1) : Math.floor(above) + 1;
  const most = numberOf(schema, 'maximum') ?? numberOf(schema, 'exclusiveMaximum');
  return most !== undefined && least > most ? most : Math.min(Math.max(least, 1), most ?? Number.POSITIVE_INFINITY);
}
