// `methods types`: generates TypeScript or Python types of a method's inputs, result and answers, from a file or a
// server.
import { resolve } from 'node:path';
import { productionMethodId } from '@methods/base/ids';
import { compileMethod } from '@methods/method/compile';
import { isFileName, namedMethod } from '../chosen-server/named-method.ts';
import { openServer } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError, EXIT, UsageError } from '../errors/command-error.ts';
import { writeWhole } from '../files/write-whole.ts';
import { TYPES_WORDS } from '../help-words.ts';
import { compileToRun } from '../method-file/local-method.ts';
import { readMethodFile, reasonOf } from '../method-file/method-file.ts';
import { getMethod, getSource, versionNamed } from '../server/method-calls.ts';
import { type MethodShape, shapeOf } from './method-shape.ts';
import { pythonFile } from './python-types.ts';
import { typescriptFile } from './typescript-types.ts';

interface TypedMethod {
  readonly shape: MethodShape;
  /** The source of the types. */
  readonly of: string;
}

export const typesCommand: Command = {
  ...TYPES_WORDS,

  async run(line, context) {
    const { cwd, output } = context;
    const word = line.operands[0] ?? '';
    const { shape, of } = (await isFileName(word, cwd))
      ? await typedFile(word, line, context)
      : await typedMethod(word, line, context);
    const python = line.flag('python');
    const about = `Types of ${of}, made by: methods types ${word}${python ? ' --python' : ''}`;
    const text = python ? pythonFile(shape, about) : typescriptFile(shape, about);
    const file = line.text('output') ?? null;
    output.document({ method: shape.name, file, types: text });
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
  return { shape: shapeOf(compileToRun(file, cwd, output).method, null), of: word };
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
  if (method !== null)
    return { shape: shapeOf(method, productionMethodId(id)), of: `${productionMethodId(id)}, ${versionId}` };
  if (format === 'workflow/1') {
    throw new CommandError('needs_upgrade', `${versionId} is in the format workflow/1, which has no types`, {
      hint: 'methods upgrade FILE --write, then save it',
    });
  }
  throw new CommandError('invalid_method', `${versionId} cannot be read by this version of methods`, {
    hint: 'a newer one may be able to',
  });
}
