// The Node code of docs/clients.md, word for word, with the built library in the folder of an application.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fencedBlocks } from '../docs/fenced-blocks.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { commonStack } from './common-stack.ts';
import type { Stack } from './stack.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = { path: 'docs/clients.md', text: readFileSync(join(ROOT, 'docs/clients.md'), 'utf8') };
const PRINTS = /\/\/ prints: (.*)$/gm;

describe('documented Node code', () => {
  let stack: Stack;
  const app = tempFolder('client-app');
  before(async () => {
    const built = join(app, 'node_modules/@methods/client');
    await run(process.execPath, ['--import', 'tsx', 'libs/client/pack/main.ts', '--code', built], { cwd: ROOT });
    stack = await commonStack();
    const { api_key: key, base_url: server } = stack.ready;
    writeFileSync(join(app, '.env'), `SERVICE_API_KEY=${key}\nMETHODS_SERVER=${server}\n`);
  });
  after(() => rmSync(app, { recursive: true }));

  for (const { info, text, at } of fencedBlocks(PAGE).filter((block) => /^js\b/.test(block.info))) {
    test(`${at} prints what it says`, async () => {
      const [, method] = info.split(' ');
      const code = method === undefined ? text : text.replaceAll('wf_…', stack.method(method));
      writeFileSync(join(app, 'main.mjs'), code);
      const env = { PATH: process.env.PATH, HOME: app };
      const { stdout } = await run(process.execPath, ['main.mjs'], { cwd: app, env });
      const printed = [...text.matchAll(PRINTS)].map(([, line = '']) => line);
      assert.deepEqual(stdout.trimEnd().split('\n'), printed.length === 0 ? [''] : printed);
    });
  }
});
