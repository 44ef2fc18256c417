// `methods new`: a commented method to start from.
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command, CommandContext } from '../command/command.ts';
import { CommandError, UsageError } from '../errors/command-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { askLine } from '../terminal/ask-line.ts';
import { STARTERS, type Starter } from './starters.ts';

const NAME_DEFAULT = 'my-method';
const NAME = /^[a-z][a-z0-9-]{0,62}[a-z0-9]$/;
const KINDS = STARTERS.map(({ kind }) => kind).join(', ');

export const newCommand: Command = {
  name: 'new',
  usage: '[NAME] [--kind KIND]',
  summary: 'Write a commented method to start from',
  details: [`Kinds: ${KINDS}. Asked for on a terminal; node elsewhere.`],
  options: { kind: { value: 'KIND', help: 'what its first step does' } },
  operands: { min: 0, max: 1, word: 'NAME' },
  examples: ['methods new refund-order', 'methods new fetch-orders --kind http'],

  async run(line, context) {
    const { cwd, output } = context;
    const name = (line.operands[0] ?? NAME_DEFAULT).replace(/\.method$/, '');
    if (!NAME.test(name)) {
      throw new UsageError(
        `"${name}" is not a valid method name`,
        '2 to 64 small letters, digits and -, such as my-method',
      );
    }
    const starter = await chooseStarter(line.text('kind'), context);
    const file = `${name}.method`;
    await writeFile(resolve(cwd, file), starter.text(name), { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError('not_written', `cannot write ${file}: ${reasonOf(error)}`);
    });
    output.document({ file, name, kind: starter.kind });
    output.line(`Wrote ${file}. Try:  methods test ${file}`);
    return EXIT.done;
  },
};

async function chooseStarter(given: string | undefined, { output, interrupted }: CommandContext): Promise<Starter> {
  const found = starterOf(given ?? 'node');
  if (given !== undefined || !output.interactive) {
    if (found === undefined) throw new UsageError(`there is no kind "${given}"`, `kinds: ${KINDS}`);
    return found;
  }
  for (const [index, { kind, summary }] of STARTERS.entries()) output.result(`  ${index + 1} ${kind}: ${summary}`);
  for (;;) {
    const typed = await askLine('What does its first step do? (1) ', output, interrupted);
    if (typed === null) throw new UsageError('no kind was chosen', `name one with --kind: ${KINDS}`);
    const starter = STARTERS[Number(typed === '' ? 1 : typed) - 1] ?? starterOf(typed);
    if (starter !== undefined) return starter;
  }
}

function starterOf(kind: string): Starter | undefined {
  return STARTERS.find((starter) => starter.kind === kind);
}
