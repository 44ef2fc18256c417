// The words and the help of `methods run`, apart from its work: to show them nothing of that is loaded.

import { SERVER_OPTIONS } from '../chosen-server/server-options.ts';
import type { CommandHelp } from '../command/command-words.ts';
import { UPLOAD_OPTIONS } from '../upload/saved-version.ts';

export const RUN_WORDS: CommandHelp = {
  name: 'run',
  usage: 'FILE [--inputs JSON|@FILE] [--inputs NAME=@FILE]... [--human FILE] [--upload]  |  --resume RUN_ID [--upload]',
  summary: 'Run a method on this machine, without a server',
  details: [
    'Secrets come from the environment. The run is kept in .methods/runs/RUN_ID. A question without an answer in',
    '--human is asked on the terminal; without one the run waits, and the exit code is 4. A record that no server has',
    'taken is kept; --resume RUN_ID --upload sends it, even after the run has ended.',
  ],
  options: {
    inputs: {
      value: 'JSON|@FILE|NAME=@FILE',
      help: 'the inputs; @- reads them from standard input; NAME=@FILE is a file for an input, again for another',
      many: true,
    },
    human: { value: 'FILE', help: 'answers by step, as YAML or JSON: approval: { decision: approve }' },
    ...UPLOAD_OPTIONS,
    ...SERVER_OPTIONS,
    resume: { value: 'RUN_ID', help: 'continue a run that was interrupted, killed or waits' },
  },
  operands: { min: 0, max: 1, word: 'FILE' },
  examples: [
    'methods run refund-order.method --inputs \'{"order_id": "ord_1", "amount": 20}\'',
    'methods run refund-order.method --inputs @inputs.json --human answers.yaml --json',
  ],
};
