// The words and the help of `methods upgrade`, apart from its work: to show them nothing of that is loaded.
import type { CommandHelp } from '../command/command-words.ts';

export const UPGRADE_WORDS: CommandHelp = {
  name: 'upgrade',
  usage: 'FILE [--write]',
  summary: 'Turn a workflow/1 file into method/2',
  details: ['Prints the new text, or writes it with --write. Exits with 3 if a person should review it.'],
  options: { write: { help: 'write the new text to FILE' } },
  operands: { min: 1, max: 1, word: 'FILE' },
  examples: ['methods upgrade weekly-report.method', 'methods upgrade weekly-report.method --write'],
};
