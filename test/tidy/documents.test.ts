import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { catalog } from '@methods/errors/catalog';
import { documents, exists } from './source-files.ts';

/** Links of a document to files, not to the network and not within itself. */
function fileLinks(text: string): string[] {
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(<?([^)>\s]+)>?(?:\s+"[^"]*")?\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^([a-z]+:|#)/i.test(target));
}

test('every relative link of a document leads somewhere', () => {
  const dead = documents.flatMap(({ path, text }) =>
    fileLinks(text)
      .filter((target) => {
        const file = decodeURIComponent(target.replace(/[#?].*$/, ''));
        return !exists(file.startsWith('/') ? file.slice(1) : posix.join(posix.dirname(path), file));
      })
      .map((target) => `${path}: ${target}`),
  );
  assert.deepEqual(dead, []);
});

const errorPages = documents.map(({ path }) => path).filter((path) => /^docs\/errors\/[a-z_]+\.md$/.test(path));

test('every error of the catalogue has its page, and every page its error', { skip: errorPages.length === 0 }, () => {
  const documented = errorPages.map((path) => posix.basename(path, '.md'));
  assert.deepEqual(documented.sort(), Object.keys(catalog).sort());
});
