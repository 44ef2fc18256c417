// The words and the help of `methods test`, apart from its work: to show them nothing of that is loaded.
import type { CommandHelp } from '../command/command-words.ts';

const FILES_MAX = 1000;

export const TEST_WORDS: CommandHelp = {
  name: 'test',
  usage: 'FILE… [--only NAME] [--coverage]',
  summary: "Run a method's own tests",
  details: ['Code is executed; the test mocks http, call and wait steps and answers ask steps.'],
  options: {
    only: { value: 'NAME', help: 'run the test of this name' },
    coverage: { help: 'list the steps and checks that no test reached' },
  },
  operands: { min: 1, max: FILES_MAX, word: 'FILE' },
  examples: [
    'methods test refund-order.method --coverage',
    'methods test refund-order.method --only "a rejected refund does nothing"',
  ],
};
