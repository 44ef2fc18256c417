// The repository's own files, as text: what the house rules are held against.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checks/command.ts';

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const SKIPPED = new Set(['node_modules', '.git', '.data', 'coverage', 'gen', 'dist']);
const CODE = /\.(ts|tsx|mjs)$/;
const WRITTEN_BY_HAND =
  /\.(ts|tsx|mjs|css|md|json|ya?ml|proto|sql|method|py|sh)$|(^|\/)(run|Dockerfile|\.editorconfig)$/;

const all = listFiles('');

/** TypeScript and JavaScript, tests included, generated code not. */
export const codeFiles = read((path) => CODE.test(path));

/** TypeScript and JavaScript that is no test. */
export const sources = codeFiles.filter(({ path }) => !isTest(path));

export const tests = codeFiles.filter(({ path }) => isTest(path));

export const documents = read((path) => path.endsWith('.md'));

/** Files written by hand: code, documents, configuration, schemas. */
export const handWritten = read((path) => WRITTEN_BY_HAND.test(path) && path !== 'package-lock.json');

/** Tests and what only they use. */
function isTest(path: string): boolean {
  return /\.(test|fixture)\.tsx?$/.test(path);
}

export function exists(path: string): boolean {
  return all.files.has(path) || all.folders.has(path.replace(/\/$/, ''));
}

function read(wanted: (path: string) => boolean): SourceFile[] {
  const paths = [...all.files].filter(wanted).sort();
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

function listFiles(folder: string): { files: Set<string>; folders: Set<string> } {
  const files = new Set<string>();
  const folders = new Set<string>([folder]);
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isFile()) files.add(path);
    if (!entry.isDirectory() || SKIPPED.has(entry.name)) continue;
    const below = listFiles(path);
    for (const file of below.files) files.add(file);
    for (const inner of below.folders) folders.add(inner);
  }
  return { files, folders };
}

/** The lines of all files that break a rule, as `path:line: text`. */
export function linesMatching(files: readonly SourceFile[], breaks: (line: string) => boolean): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => (breaks(line) ? [`${path}:${i + 1}: ${line.trim().slice(0, 100)}`] : [])),
  );
}
