// The words and the help of `methods save`, apart from its work: to show them nothing of that is loaded.

import { SERVER_OPTIONS } from '../chosen-server/server-options.ts';
import type { CommandHelp } from '../command/command-words.ts';
import { LINK_FILE } from '../link/link-file.ts';

export const SAVE_WORDS: CommandHelp = {
  name: 'save',
  usage: 'FILE [--reason TEXT] [--onto VERSION] [--server URL]',
  summary: 'Save a file as a method, and later as its versions',
  details: [
    `The first save makes the method; ${LINK_FILE} beside the file records it and your base version.`,
    'It contains no secret: commit it. After a time-out, save again: nothing is created twice.',
  ],
  options: {
    reason: { value: 'TEXT', help: 'the reason, shown in the list of versions' },
    onto: { value: 'VERSION', help: 'save on top of this version, after you merged its change into the file' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'FILE' },
  examples: ['methods save refund-order.method', 'methods save refund-order.method --reason "Ask above 100"'],
};
