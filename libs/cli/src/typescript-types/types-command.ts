// `methods types`: generates TypeScript types of a method's inputs and result, from a file or a server.
import { resolve } from 'node:path';
import { compileMethod } from '@methods/method/compile';
import type { CompiledMethod } from '@methods/method/compiled-method';
import { isJsonObject, type JsonSchema, type JsonValue, ownField } from '@methods/method/json';
import { isFileName, namedMethod } from '../chosen-server/named-method.ts';
import { openServer } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError, UsageError } from '../errors/command-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { writeWhole } from '../files/write-whole.ts';
import { TYPES_WORDS } from '../help-words.ts';
import { compileToRun } from '../method-file/local-method.ts';
import { readMethodFile, reasonOf } from '../method-file/method-file.ts';
import { getMethod, getSource, versionNamed } from '../server/method-calls.ts';
import { commentOf, typescriptOfSchema } from './typescript-of-schema.ts';

// The text of a TypeScript file with the types of one method: its inputs, its result, and the types they name.

type Described = Pick<CompiledMethod, 'name' | 'title' | 'inputSchema' | 'resultSchema'>;

/** `about` names the source of the types in the file's first line. */
function methodTypes({ name, title, inputSchema, resultSchema }: Described, about: string): string {
  const names = new TypeNames(pascalCase(name));
  const inputs = names.take('Inputs');
  const result = names.take('Result');
  const called = title ?? name;
  const parts = [
    ...namedTypes([inputSchema, resultSchema], names),
    declared(inputs, inputSchema, `What ${called} is started with.`, names),
    declared(result, resultSchema, `What ${called} gives.`, names),
  ];
  return `// ${oneLine(about)}\n\n${parts.join('\n\n')}\n`;
}

/** The same name in inputs and result becomes one entry in the method's `types`. */
function namedTypes(schemas: readonly JsonSchema[], names: TypeNames): string[] {
  const definitions = new Map<string, JsonValue>();
  for (const schema of schemas) {
    const found = ownField(schema, '$defs');
    if (isJsonObject(found)) for (const [name, definition] of Object.entries(found)) definitions.set(name, definition);
  }
  // Defines all names first, since types may refer to each other.
  for (const name of definitions.keys()) names.define(name);
  return [...definitions].map(([name, definition]) =>
    declared(names.ofDefinition(name) ?? name, definition, '', names),
  );
}

function declared(typeName: string, schema: JsonValue, about: string, names: TypeNames): string {
  const described = isJsonObject(schema) ? schema : {};
  const comment = commentOf(about === '' ? described : { description: oneLine(about) }, '');
  const type = typescriptOfSchema(schema, (name) => names.ofDefinition(name));
  return [...comment, `export type ${typeName} = ${type};`].join('\n');
}

/** Names of one file, each given out once. */
class TypeNames {
  private readonly taken = new Set<string>();
  private readonly definitions = new Map<string, string>();

  constructor(private readonly prefix: string) {}

  take(word: string): string {
    const wanted = `${this.prefix}${pascalCase(word)}`;
    let name = wanted;
    for (let count = 2; this.taken.has(name); count++) name = `${wanted}${count}`;
    this.taken.add(name);
    return name;
  }

  define(definition: string): void {
    if (!this.definitions.has(definition)) this.definitions.set(definition, this.take(definition));
  }

  ofDefinition(definition: string): string | undefined {
    return this.definitions.get(definition);
  }
}

function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(joined) ? joined : `Method${joined}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

interface TypedMethod {
  readonly method: CompiledMethod;
  /** The source of the types. */
  readonly of: string;
}

export const typesCommand: Command = {
  ...TYPES_WORDS,

  async run(line, context) {
    const { cwd, output } = context;
    const word = line.operands[0] ?? '';
    const { method, of } = (await isFileName(word, cwd))
      ? await typedFile(word, line, context)
      : await typedMethod(word, line, context);
    const text = methodTypes(method, `Types of ${of}, made by: methods types ${word}`);
    const file = line.text('output') ?? null;
    output.document({ method: method.name, file, types: text });
    if (file === null) {
      output.result(text);
      return EXIT.done;
    }
    await writeWhole(resolve(cwd, file), text).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError('not_written', `cannot write ${file}: ${reasonOf(error)}`);
    });
    output.line(`Wrote ${file}.`);
    return EXIT.done;
  },
};

async function typedFile(word: string, line: CommandLine, { cwd, output }: CommandContext): Promise<TypedMethod> {
  if (line.text('version') !== undefined) {
    throw new UsageError('a file has no versions', `without --version, or by its id; see  methods list`);
  }
  const file = await readMethodFile(word, cwd);
  return { method: compileToRun(file, cwd, output).method, of: word };
}

async function typedMethod(word: string, line: CommandLine, context: CommandContext): Promise<TypedMethod> {
  const api = await openServer(line, context);
  const { id } = await namedMethod(api, word, context.cwd);
  const asked =
    line.text('version') ?? ((await getMethod(api, id)).published_version === null ? 'current' : 'published');
  const {
    source,
    version_id: versionId,
    schema_version: format,
  } = await getSource(api, id, await versionNamed(api, id, asked));
  const { method } = compileMethod(source);
  if (method !== null) return { method, of: `wf_${id}, ${versionId}` };
  if (format === 'workflow/1') {
    throw new CommandError('needs_upgrade', `${versionId} is in the format workflow/1, which has no types`, {
      hint: 'methods upgrade FILE --write, then save it',
    });
  }
  throw new CommandError('invalid_method', `${versionId} cannot be read by this version of methods`, {
    hint: 'a newer one may be able to',
  });
}
