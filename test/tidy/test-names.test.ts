// What only tests use has the name of a test: it is not part of built code, and a reader of a folder passes it over.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { root } from '../checks/command.ts';
import { codeFiles, sources } from './source-files.ts';

const IMPORTED = /(?:\bfrom|\bimport)\s*\(?\s*'([^'\n]+)'/g;
/** Code of the repository that no process of the product runs. */
const IS_TOOL = /^test\/|\/bench\//;
/** What applications import, and the product does not; and the format that they share with workers. */
const IS_LIBRARY = /^libs\/(client\/src\/index|content\/src\/device\/.*)\.ts$/;

/** The file that an import names; null outside the repository. */
function fileOf(from: string, name: string): string | null {
  if (name.startsWith('.')) return posix.join(posix.dirname(from), name);
  const [scope, library = '', ...rest] = name.split('/');
  if (scope !== '@methods') return null;
  const places = library === 'local-stack' ? ['deploy/local'] : [`libs/${library}`, `services/${library}`, library];
  const folder = places.find((place) => existsSync(join(root, place)));
  return folder === undefined ? null : `${folder}/src/${rest.join('/')}.ts`;
}

const product = new Set(sources.map(({ path }) => path).filter((path) => !IS_TOOL.test(path)));
const importers = new Map<string, Set<string>>();
for (const { path, text } of codeFiles) {
  for (const [, name = ''] of text.matchAll(IMPORTED)) {
    const file = fileOf(path, name);
    if (file !== null) importers.set(file, (importers.get(file) ?? new Set()).add(path));
  }
}

/** Modules that are imported, and by no code of the product but each other. */
function usedByTestsOnly(): string[] {
  const found = new Set<string>();
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const path of product) {
      if (IS_LIBRARY.test(path)) continue;
      const by = [...(importers.get(path) ?? [])].filter((importer) => importer !== path);
      if (by.length > 0 && by.every((importer) => !product.has(importer) || found.has(importer))) found.add(path);
    }
  }
  return [...found].sort();
}

test('what only tests import is a *.fixture.ts, or below test/', () => {
  assert.deepEqual(usedByTestsOnly(), []);
});

test('the product imports no test code', () => {
  const imports = [...importers].flatMap(([file, by]) =>
    /\.(test|fixture)\.ts$|^test\//.test(file) ? [...by].filter((path) => product.has(path)) : [],
  );
  assert.deepEqual(imports, []);
});
