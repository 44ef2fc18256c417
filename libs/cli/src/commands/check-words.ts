// The words and the help of `methods check`, apart from its work: to show them nothing of that is loaded.
import type { CommandHelp } from '../command/command-words.ts';

const FILES_MAX = 1000;

export const CHECK_WORDS: CommandHelp = {
  name: 'check',
  usage: 'FILE… [--strict]',
  summary: 'Check methods and show each fault with its position',
  options: { strict: { help: 'exit with 3 when there are warnings' } },
  operands: { min: 1, max: FILES_MAX, word: 'FILE' },
  examples: ['methods check refund-order.method', 'methods check --strict --json methods/*.method'],
};
