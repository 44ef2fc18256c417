// Runs a TypeScript file of this checkout as built code: node run.mjs FILE.ts ARGUMENTS. Its sources as they are now:
// what is not built is built first.
import { resolve } from 'node:path';
import { importBuilt } from './import-built.mjs';

const [node = '', , file = '', ...args] = process.argv;
const source = resolve(file);
process.argv = [node, source, ...args];
await importBuilt(source);
