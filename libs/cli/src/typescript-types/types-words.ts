// The words and the help of `methods types`, apart from its work: to show them nothing of that is loaded.

import { SERVER_OPTIONS } from '../chosen-server/server-options.ts';
import type { CommandHelp } from '../command/command-words.ts';

export const TYPES_WORDS: CommandHelp = {
  name: 'types',
  usage: 'METHOD|FILE [-o FILE] [--version VERSION] [--server URL]',
  summary: "Write TypeScript types of a method's inputs and result",
  details: [
    'A FILE needs no server; a METHOD is read in its published version, or the current one if none is published.',
  ],
  options: {
    output: { value: 'FILE', short: 'o', help: 'write here instead of stdout' },
    version: { value: 'VERSION', help: 'ver_…, published or current' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'METHOD or a FILE' },
  examples: ['methods types refund-order.method -o src/refund-order.ts', 'methods types wf_01kac0t6xgy9s2m4n8p3q5r7v1'],
};
