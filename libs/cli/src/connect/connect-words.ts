// The words and the help of `methods connect`, apart from its work: to show them nothing of that is loaded.

import { SERVER_OPTIONS } from '../chosen-server/server-options.ts';
import type { CommandHelp } from '../command/command-words.ts';
import { ENV_FILE, KEY_VARIABLE } from './env-file.ts';

export const CONNECT_WORDS: CommandHelp = {
  name: 'connect',
  usage: 'APP_PATH [--method FILE|METHOD] [--replace] [--server URL]',
  summary: 'Let an app start a method: a key in its .env, and the code to paste',
  details: [
    `Makes a key named after the app's folder and writes ${KEY_VARIABLE} to the app's ${ENV_FILE}, without showing it.`,
    `Keeps ${ENV_FILE} out of git, and publishes the method's file if no version is published. May be repeated.`,
  ],
  options: {
    method: { value: 'FILE', help: 'the method; default the only *.method file here, or in the app' },
    replace: { help: `put a new key in the place of the ${KEY_VARIABLE} that is there` },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'APP_PATH' },
  examples: ['methods connect ../shop --method refund-order.method', 'methods connect . --replace'],
};
