// Builds everything that runs into an empty folder: every process, which is a `main.ts`, and the code that others name.
// Called with the root and the folder; the paths of the sources come on standard input.
import { symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import type { BuildFailure } from 'esbuild';
import { buildCode, builtName, referencedCode } from './build-code.ts';

const FAULTY_SOURCES = 2;

const [, , root = '', folder = ''] = process.argv;
const sources = (await text(process.stdin)).split('\n').filter((path) => path.endsWith('.ts'));
const entries = [
  ...new Set([...sources.filter((path) => basename(path) === 'main.ts'), ...referencedCode(root, sources)]),
];
const built = await buildCode({ root, entries, folder }).catch(refused);
const strange = built.inputs.find((path) => isOwn(path) && !sources.includes(path));
// The key would not change with it.
if (strange !== undefined) refuse(`${strange} is built and is none of the checkout's sources.`);
const bytes: Record<string, number> = {};
for (const { path, contents } of built.files) {
  writeFileSync(path, contents);
  bytes[relative(folder, path)] = contents.length;
}
// Built code imports third-party packages by name, from any folder.
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
const files = Object.fromEntries(entries.map((path) => [path, builtName(path)]));
writeFileSync(join(folder, 'built.json'), JSON.stringify({ entries: files, bytes }));

function isOwn(path: string): boolean {
  return !/(^|\/)node_modules\//.test(path) && !/^[a-z-]+:/.test(path);
}

function refused(error: BuildFailure): never {
  refuse(error.message);
}

function refuse(what: string): never {
  process.stderr.write(`${what}\n`);
  process.exit(FAULTY_SOURCES);
}
