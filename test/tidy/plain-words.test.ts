// Comments, messages, test names and documents use the field's usual words. CONTRIBUTING.md lists the words below with
// what to write instead.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeFiles, documents, type SourceFile, sources } from './source-files.ts';

const WORDS =
  /\b(tells?|told|stands?|stood|nobody|somebody|whoever|whatever|alone|anew|for ever|to be had|hears? of|anybody|everybody|none the|has it that|at hand|(?:is|are|was|were|be) away|(?:hold|holds|holding|held) up|(?:goes|go|went|going) on)\b/gi;

/** Code within prose, a name in a statement, and a user of the system. */
const ALLOWED = [/`[^`]*`/g, /\btold as \(/g, /\buser "nobody"/g];

const COMMENT = String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)`;
const TEXT = String.raw`(?<text>'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"|${'`'}(?:[^${'`'}\\]|\\[\s\S])*${'`'})`;
const PATTERN = String.raw`(?<=[=(,:[!&|?{};\n]\s*)\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/`;
const PIECES = new RegExp(`${COMMENT}|${TEXT}|${PATTERN}`, 'g');

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** Comments and messages of code; of the strings of a test, its names only: others are data. */
function proseOfCode({ path, text }: SourceFile): { at: number; prose: string }[] {
  const isSource = productionPaths.has(path) && !path.startsWith('test/');
  return [...text.matchAll(PIECES)].flatMap(({ index, groups = {} }) => {
    if (groups.comment !== undefined) return [{ at: index, prose: groups.comment }];
    const { text: literal } = groups;
    if (literal === undefined || !literal.includes(' ')) return [];
    const isName = /\b(test|it|describe)\(\s*$/.test(text.slice(Math.max(0, index - 20), index));
    return isSource || isName ? [{ at: index, prose: literal.slice(1, -1).replace(/\$\{[^}]*\}/g, '') }] : [];
  });
}

function proseOfDocument({ text }: SourceFile): { at: number; prose: string }[] {
  const blank = (code: string) => code.replace(/[^\n]/g, ' ');
  return [{ at: 0, prose: text.replace(/^(```|~~~)[\s\S]*?^\1/gm, blank).replace(/`[^`\n]*`/g, blank) }];
}

/** As `path:line: word`. */
function findings(files: readonly SourceFile[], proseOf: typeof proseOfCode): string[] {
  return files
    .filter(({ text }) => text.search(WORDS) >= 0)
    .flatMap((file) =>
      proseOf(file).flatMap(({ at, prose }) => {
        const checked = ALLOWED.reduce((rest, allowed) => rest.replace(allowed, ''), prose);
        return [...checked.matchAll(WORDS)].map(
          ({ 0: word, index }) => `${file.path}:${lineOf(file.text, at) + lineOf(checked, index) - 1}: ${word}`,
        );
      }),
    );
}

const productionPaths = new Set(sources.map(({ path }) => path));
const itself = 'test/tidy/plain-words.test.ts';
const found = [
  ...findings(
    codeFiles.filter(({ path }) => path !== itself),
    proseOfCode,
  ),
  ...findings(
    documents.filter(({ path }) => path !== 'CONTRIBUTING.md'),
    proseOfDocument,
  ),
];

test('comments, messages, test names and documents use plain words (CONTRIBUTING.md says which)', () => {
  assert.deepEqual(found, []);
});
