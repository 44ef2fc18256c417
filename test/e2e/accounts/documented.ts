// docs/accounts.md is typed as its reader types it, in one shell, and prints what the page says.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createServiceKey } from '@methods/auth/service-key';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { commandsOf } from '../../docs/console-blocks.ts';
import { fencedBlocks } from '../../docs/fenced-blocks.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { documents } from '../../tidy/source-files.ts';
import type { AccountWorld } from './account-world.ts';

const RECORDING = fileURLToPath(
  new URL('../../../libs/method/src/recording/fixtures/shop-refund.har', import.meta.url),
);
const TOKEN = nodeArguments(new URL('../../../deploy/local/src/token/main.ts', import.meta.url));
const COMMANDS_MIN = 15;
const MARK = '@@ end of a command @@';

const hasJq = spawnSync('jq', ['--version']).status === 0;

export function documentedCommands(world: () => AccountWorld): void {
  const options = hasJq ? {} : { skip: 'jq is not installed (apt-get install jq), so the page is not typed' };
  test('every command of docs/accounts.md prints what the page says', options, () => {
    const page = documents.find(({ path }) => path === 'docs/accounts.md');
    assert.ok(page);
    const blocks = fencedBlocks(page);
    const commands = blocks.filter(({ info }) => info === 'console').flatMap(commandsOf);
    assert.ok(commands.length >= COMMANDS_MIN, `only ${commands.length} commands were found`);

    const { ready } = world().stack;
    const dir = tempFolder('accounts-page');
    try {
      writeFileSync(join(dir, 'greet.method'), blocks.find(({ info }) => info === 'method')?.text ?? '');
      copyFileSync(RECORDING, join(dir, 'shop.har'));
      // In the reader's checkout this is `npm run token`; here no npm is needed, and the stack is named.
      mkdirSync(join(dir, '.bin'));
      const npm = `#!/bin/sh\nshift 4\nexec "${process.execPath}" ${TOKEN.map((word) => `"${word}"`).join(' ')} --data-dir "${ready.data_dir}" "$@"\n`;
      writeFileSync(join(dir, '.bin/npm'), npm);
      chmodSync(join(dir, '.bin/npm'), 0o755);
      const script = commands.map(({ command }) => `{ ${command}\n} 2>&1\necho '${MARK}'\n`).join('');
      const shell = spawnSync('bash', ['-c', script], {
        cwd: dir,
        encoding: 'utf8',
        env: {
          PATH: `${join(dir, '.bin')}:${process.env.PATH}`,
          HOME: dir,
          BASE_URL: ready.base_url,
          NEW_KEY: createServiceKey().key,
        },
      });
      const printed = shell.stdout.split(`${MARK}\n`);
      for (const [at, { command, told, at: place }] of commands.entries()) {
        assert.equal(printed[at], told, `${place}: ${command}`);
      }
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
}
