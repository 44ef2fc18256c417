// Runs a TypeScript file of this checkout as built code: node run.mjs FILE.ts ARGUMENTS. Builds its present sources
// first if needed.
import { resolve } from 'node:path';
import { importBuilt } from './import-built.mjs';

const [node = '', , file = '', ...args] = process.argv;
const source = resolve(file);
process.argv = [node, source, ...args];
await importBuilt(source);
