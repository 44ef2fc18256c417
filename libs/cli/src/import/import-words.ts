// The words and the help of `methods import`, apart from its work: to show them nothing of that is loaded.

import { SERVER_OPTIONS } from '../chosen-server/server-options.ts';
import type { CommandHelp } from '../command/command-words.ts';

export const IMPORT_WORDS: CommandHelp = {
  name: 'import',
  usage: 'RECORDING [-o FILE] [--name NAME] [--upload]',
  summary: 'Draft a method from a recording (HAR or Chrome Recorder)',
  details: [
    'Prints the draft, or writes it with -o. Recorded passwords and tokens are not kept: they become secrets.',
    'Review the draft; its first lines say what was left out. Nothing is sent anywhere, unless --upload lets the server',
    'keep the recording and make a method of it; the same recording again is the same method.',
  ],
  options: {
    output: { value: 'FILE', short: 'o', help: 'write the draft to FILE, which must not be there yet' },
    name: { value: 'NAME', help: "words for the method's name, instead of the recording's" },
    upload: { help: 'send the recording to the server, which makes a method of it' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'RECORDING' },
  examples: ['methods import checkout.har -o checkout.method', 'methods import recording.json --name "Weekly report"'],
};
