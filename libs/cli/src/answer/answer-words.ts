// The words and the help of `methods answer`, apart from its work: to show them nothing of that is loaded.

import { SERVER_OPTIONS } from '../chosen-server/server-options.ts';
import type { CommandHelp } from '../command/command-words.ts';
import { UPLOAD_OPTIONS } from '../upload/saved-version.ts';

export const ANSWER_WORDS: CommandHelp = {
  name: 'answer',
  usage: 'RUN_ID [--answer JSON|@FILE] [--wait] [--server URL]',
  summary: 'Answer the question of a waiting run, and continue it',
  details: [
    'Looks for the run in .methods/runs, then on the server. Without --answer the question is asked on the terminal,',
    'field by field, longer texts in $EDITOR; without a terminal it is shown, and the run keeps waiting. With --wait a',
    'run on a server is then shown until it has finished or waits for the next answer (exit code 4), as a local one is.',
  ],
  options: {
    answer: { value: 'JSON|@FILE', help: 'the answer, an object that fits the form of the question' },
    wait: { help: 'watch the run on the server after the answer and print its result' },
    ...UPLOAD_OPTIONS,
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'RUN_ID' },
  examples: [
    'methods answer run_01kf3p7c5m8x2q9t4v6w0y1z2a',
    'methods answer run_01kf3p7c5m8x2q9t4v6w0y1z2a --answer \'{"decision": "approve"}\'',
  ],
};
