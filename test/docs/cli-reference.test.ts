import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '@methods/cli/commands';
import { CLI_PAGE, cliReference, withReference } from './cli-reference.ts';

const page = readFileSync(fileURLToPath(new URL(`../../${CLI_PAGE}`, import.meta.url)), 'utf8');

test('the reference in docs/cli.md is what the commands say (npm run generate:cli)', async () => {
  assert.equal(page, withReference(page, await cliReference()));
});

test('every command has its section and its two examples there', async () => {
  for (const { name, load } of COMMANDS) {
    assert.ok(page.includes(`\n### ${name}\n`), name);
    const { examples } = await load();
    for (const example of examples) assert.ok(page.includes(`\n${example}\n`), example);
  }
});
