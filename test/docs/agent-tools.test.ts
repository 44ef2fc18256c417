import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AGENT_APPS } from '@methods/cli/agents/agent-apps';
import { AGENTS_PAGE, toolTable, withToolTable } from './agent-tools.ts';

const page = readFileSync(fileURLToPath(new URL(`../../${AGENTS_PAGE}`, import.meta.url)), 'utf8');

test('the tools in docs/agents.md are those of the server (npm run generate:agents)', () => {
  assert.equal(page, withToolTable(page, toolTable()));
});

test('docs/agents.md names every program that the command knows', () => {
  const named = [...page.matchAll(/^\| `([a-z-]+)` +\| /gm)].map(([, name = '']) => name);
  assert.deepEqual(named, [...AGENT_APPS]);
});
