// One running stack for the stories of the dashboard, with the methods of test/e2e and some of its own. Stories leave
// runs, keys and methods there; each looks only at what it made.
import { cpSync } from 'node:fs';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { METHODS, type Stack, startStack } from '../e2e/stack.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const OWN_METHODS = fileURLToPath(new URL('./methods/', import.meta.url));

let common: Promise<Stack> | undefined;

// Of the process: when the tests of all its files have ended.
after(async () => (await common?.catch(() => undefined))?.stop());

export function commonStack(): Promise<Stack> {
  common ??= started();
  return common;
}

function started(): Promise<Stack> {
  const methods = tempFolder('dashboard-methods');
  for (const folder of [METHODS, OWN_METHODS]) cpSync(folder, methods, { recursive: true });
  return startStack('dashboard', { args: ['--workers', '1', '--mail', '--methods', methods] });
}
