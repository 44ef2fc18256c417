import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeFiles, handWritten, linesMatching, sources } from './source-files.ts';

const LINES_MAX = 350;
/** A path here needs a reason beside it. */
const LONGER_FOR_A_REASON: readonly string[] = [
  // A node's 60 parts in one page: cut in two, neither half shows who listens to whom.
  'services/run-scheduler/src/composition.ts',
];

test('no file is longer than 350 lines', () => {
  const long = codeFiles
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ path, lines }) => lines > LINES_MAX && !LONGER_FOR_A_REASON.includes(path));
  assert.deepEqual(long, []);
});

test('no file is on the list of longer ones without need', () => {
  const known = new Map(codeFiles.map(({ path, text }) => [path, text.split('\n').length - 1]));
  for (const path of LONGER_FOR_A_REASON) assert.ok((known.get(path) ?? 0) > LINES_MAX, path);
});

test('a file opens with a comment that says in a sentence what it owns', () => {
  const opening = /^(#!.*\n)?(\/\/ .+\n|\/\*\*?[\s\S]+?\*\/)/;
  const silent = sources.filter(({ text }) => !opening.test(text) || !/[.:]\s/.test(openingComment(text)));
  assert.deepEqual(
    silent.map(({ path }) => path),
    [],
  );
});

function openingComment(text: string): string {
  const lines = text.replace(/^#!.*\n/, '').split('\n');
  const end = lines.findIndex((line) => !/^(\/\/|\/\*| \*)/.test(line));
  return `${lines.slice(0, end === -1 ? lines.length : end).join(' ')} `;
}

test('files are named in kebab-case and belong to no drawer for everything', () => {
  const drawers = /(^|\/)(utils?|common|helpers?|shared|misc|types)(\/|\.tsx?$|\.mjs$)/;
  const drawerOf = (path: string) => drawers.test(path.replace('libs/method/src/types/', ''));
  assert.deepEqual(
    codeFiles.map(({ path }) => path).filter((path) => /[A-Z_ ]/.test(path) || drawerOf(path)),
    [],
  );
});

test('a note for later names its issue', () => {
  const note = new RegExp(`\\b(${['TO', 'DO'].join('')}|FIX${'ME'}|XX${'X'})\\b(?!\\(#\\d+\\))`);
  assert.deepEqual(
    linesMatching(handWritten, (line) => note.test(line)),
    [],
  );
});

test('no file names a place outside the repository that only one machine has', () => {
  const foreign = new RegExp(`(^|[\\s'"\`(=])/(${['work', 'home/[a-z]+', 'Users', 'tmp/team'].join('|')})/`);
  assert.deepEqual(
    linesMatching(handWritten, (line) => foreign.test(line)),
    [],
  );
});
