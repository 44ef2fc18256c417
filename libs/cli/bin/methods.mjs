#!/usr/bin/env node
// The `methods` command. In a checkout it is built from the present sources; in the package there is only its built
// form, and the text of its help, since loading the command takes longer than Node takes to start.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../src/main.ts', import.meta.url));
if (existsSync(source)) {
  const { importBuilt } = await import('@methods/built-code/start/import-built');
  await importBuilt(source);
} else if (!printsHelp()) {
  await import('../dist/lib/methods/main.js');
}

/** Returns false if something else is asked for, or if the terminal is so narrow that lines must be wrapped. */
function printsHelp() {
  const [first, ...others] = process.argv.slice(2);
  if ((first !== '--help' && first !== '-h') || others.length > 0) return false;
  const text = readFileSync(new URL('../dist/help.txt', import.meta.url), 'utf8');
  const { isTTY, columns } = process.stdout;
  if (isTTY && text.split('\n').some((line) => line.length > columns)) return false;
  process.stdout.on('error', ({ code }) => {
    // A reader that has gone (`methods --help | head`) is not our fault.
    if (code !== 'EPIPE') process.exitCode = 1;
  });
  process.stdout.write(text);
  return true;
}
