// The words and the help of `methods start`, apart from its work: to show them nothing of that is loaded.

import { SERVER_OPTIONS } from '../chosen-server/server-options.ts';
import type { CommandHelp } from '../command/command-words.ts';

export const START_WORDS: CommandHelp = {
  name: 'start',
  usage:
    'METHOD [--inputs JSON|@FILE] [--inputs NAME=@FILE]... [--from FILE] [--wait] [--key IDEMPOTENCY_KEY] [--version V] [--server URL]',
  summary: 'Start a run of a published method on the server',
  details: [
    'METHOD is an id (wf_…), a saved file or a display name. With --wait the run is shown until it has finished or',
    'waits for an answer (exit code 4). The same --key and values start one run, however often they are sent.',
    'With --from each line of FILE, a JSON object, is the inputs of a run; equal lines are as many runs. The id of each run',
    'is printed in the order of the lines, what is refused on stderr with its line (exit code 1). A repeated command starts',
    'only what has not started yet, by the inputs of the lines; another --key starts all lines again.',
  ],
  options: {
    inputs: {
      value: 'JSON|@FILE|NAME=@FILE',
      help: 'the inputs; @- reads them from standard input; NAME=@FILE sends a file for an input, again for another',
      many: true,
    },
    from: { value: 'FILE', help: 'start a run for each line of inputs; - reads them from standard input' },
    wait: { help: 'watch the run and print its result' },
    key: { value: 'IDEMPOTENCY_KEY', help: '8 to 200 characters; default: a new one' },
    version: { value: 'V', help: 'a version id, ver_…; default: the published one' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'METHOD' },
  examples: [
    'methods start refund-order.method --inputs \'{"order_id": "ord_1", "amount": 20}\' --wait',
    'methods start refund-order.method --from refunds.ndjson --key refunds-may',
  ],
};
