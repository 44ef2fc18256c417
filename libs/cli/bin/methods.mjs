#!/usr/bin/env node
// The `methods` command. In a checkout the sources are TypeScript and run as they are; a tsconfig.json of the folder the
// command is called in must not change how they are read. In the package there is only what was built of them.
import { existsSync } from 'node:fs';

if (existsSync(new URL('../src/main.ts', import.meta.url))) {
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: false });
  await import('../src/main.ts');
} else {
  await import('../dist/lib/methods/main.js');
}
