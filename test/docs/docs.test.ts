// What the documents show must be true: methods compile, paths exist, options and variables are the real ones. (That
// links lead somewhere is test/tidy's.)
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOptions, usage } from '@methods/local-stack/options';
import { compileMethod } from '@methods/method/compile';
import { codeFiles, documents, exists } from '../tidy/source-files.ts';
import { fencedBlocks, lineOf } from './fenced-blocks.ts';

const PATHS_MIN = 100;

/** The reference and the guide have tests of their own for what they show. */
const WITH_TESTS_OF_THEIR_OWN = ['docs/language.md', 'docs/writing-methods.md'];

interface Place {
  /** Document and line, for a person to find it. */
  readonly at: string;
  readonly text: string;
}

const pages = documents.filter(
  ({ path }) => path === 'README.md' || (/^docs\/[^/]+\.md$/.test(path) && !WITH_TESTS_OF_THEIR_OWN.includes(path)),
);
const guides = documents.filter(
  ({ path }) =>
    [
      'README.md',
      'ARCHITECTURE.md',
      ...['run-lifecycle', 'performance', 'where-is'].map((name) => `docs/${name}.md`),
    ].includes(path) || path.startsWith('docs/adr/'),
);

/** The text between single backticks, code blocks left out. */
function codeWords(files: typeof documents): Place[] {
  return files.flatMap(({ path, text }) => {
    const prose = text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ' '));
    return [...prose.matchAll(/`([^`\n]+)`/g)].map(({ 1: word = '', index }) => ({
      at: `${path}:${lineOf(prose, index)}`,
      text: word,
    }));
  });
}

test('every method in the documents compiles without a finding', () => {
  const methods = pages.flatMap(fencedBlocks).filter(({ info }) => info === 'method');
  assert.ok(methods.length > 0, 'no method was found');
  const findings = methods.flatMap(({ at, text }) =>
    compileMethod(text).diagnostics.map(({ code, line, message }) => `${at} line ${line}: ${code} ${message}`),
  );
  assert.deepEqual(findings, []);
});

/** Names a file or folder, whether or not it exists: no route, subject, format or command. */
function isPath(word: string): boolean {
  if (!/^[\w.@-]+(\/[\w.@-]+)*\/?$/.test(word) || !word.includes('/')) return false;
  return (
    /^(\.ci|deploy|docs|gateway|libs|proto|services|test)\//.test(word) || /\.(ts|mjs|md|json|sql|method)$/.test(word)
  );
}

/** docs/run-lifecycle.md says that its short paths are below this folder; the README's map of four files is whole. */
const SHORT_PATHS_BELOW = 'services/run-scheduler/src/';
/** Written by the reader, not by us. */
const OF_THE_READER = new Set(['my-methods/review-comment.method', '.data/secrets.json']);

test('every path the documents name is there', () => {
  const paths = codeWords(guides).filter(({ text }) => isPath(text) && !OF_THE_READER.has(text));
  assert.ok(paths.length >= PATHS_MIN, `only ${paths.length} paths were found`);
  const missing = paths.filter(({ at, text }) => {
    const short = at.startsWith('docs/run-lifecycle.md:') && exists(SHORT_PATHS_BELOW + text);
    return !short && !exists(text);
  });
  assert.deepEqual(
    missing.map(({ at, text }) => `${at} ${text}`),
    [],
  );
});

/** `--name` or `--name ARG`, as written in the help and in the README's table. */
function optionsIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, option = '']) => option).sort();
}

test('the README lists the options of npm start, all of them and no others', () => {
  const readme = documents.find(({ path }) => path === 'README.md')?.text ?? '';
  const listed = optionsIn(readme, /^\| `(--[^`]+)`/gm);
  assert.deepEqual(listed, optionsIn(usage, /^ {2}(--[a-z-]+(?: [A-Z]+)?) /gm));
  for (const option of listed) {
    const [name = '', argument] = option.split(' ');
    assert.doesNotThrow(() => readOptions(argument === undefined ? [name] : [name, '1'], '/'), option);
  }
});

test('the README has the defaults of npm start', () => {
  const readme = documents.find(({ path }) => path === 'README.md')?.text ?? '';
  const told = (option: string) => new RegExp(`^\\| \`${option} N\`.*\\| (\\d+) +\\|$`, 'm').exec(readme)?.[1];
  const { schedulers, gateways, workers, concurrency } = readOptions([], '/');
  assert.deepEqual(
    ['--schedulers', '--gateways', '--workers', '--concurrency'].map(told),
    [schedulers, gateways, workers, concurrency].map(String),
  );
});

test('every environment variable the documents name is read by some config.ts or by Node', () => {
  const configs = codeFiles.filter(({ path }) => path.endsWith('/config.ts'));
  const known = new Set(
    configs.flatMap(({ text }) => [...text.matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map((m) => m[1])),
  );
  // Node reads its own.
  known.add('NODE_EXTRA_CA_CERTS');
  const named = codeWords(guides).filter(({ text }) => /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(text));
  assert.ok(named.length > 0, 'no variable was found');
  assert.deepEqual(
    named.filter(({ text }) => !known.has(text)).map(({ at, text }) => `${at} ${text}`),
    [],
  );
});
