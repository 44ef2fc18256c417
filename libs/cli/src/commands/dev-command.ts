// `methods dev`: the local stack, the same as `npm start` in a checkout.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from '../command/command.ts';
import { CommandError, EXIT } from '../errors/command-error.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const RUN = fileURLToPath(new URL('../../../built-code/start/run.mjs', import.meta.url));
const MAIN = join(ROOT, 'deploy/local/src/main.ts');

export const devCommand: Command = {
  name: 'dev',
  usage: '[-- OPTIONS OF npm start]',
  summary: 'Start the whole service on this machine, from a checkout',
  details: ['The same as npm start, which gets the options after --. Ctrl-C stops it.'],
  options: {},
  operands: { min: 0, max: 100, word: 'OPTION' },
  examples: ['methods dev', 'methods dev -- --port 4000 --workers 2'],

  async run(line, { config, cwd, interrupted }) {
    if (!existsSync(MAIN)) {
      throw new CommandError(
        'no_checkout',
        'the local stack is part of the repository, and this is not a checkout of it',
        {
          hint: 'clone the repository and call  npm start  there, or use a server with  methods login --server URL',
        },
      );
    }
    const args = [...line.operands, ...(line.flag('json') ? ['--json'] : [])];
    const child = spawn(process.execPath, [RUN, MAIN, ...args], {
      cwd: ROOT,
      stdio: 'inherit',
      // Paths in its options are relative to the folder of the call.
      env: { ...Object.fromEntries(config.variables), INIT_CWD: cwd },
    });
    interrupted.addEventListener('abort', () => child.kill('SIGINT'), { once: true });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    // It has printed its error itself.
    return Object.values(EXIT).find((known) => known === code) ?? EXIT.failed;
  },
};
