#!/usr/bin/env node
// The `methods` command. In a checkout it is built from the present sources; in the package there is only its built
// form.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../src/main.ts', import.meta.url));
if (existsSync(source)) {
  const { importBuilt } = await import('@methods/built-code/start/import-built');
  await importBuilt(source);
} else {
  await import('../dist/lib/methods/main.js');
}
