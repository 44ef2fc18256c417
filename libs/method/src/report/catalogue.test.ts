// The catalogue and its pages: complete, and every example on a page shows what the page says.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Callees, compileMethod } from '../compile.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { upgradeSource } from '../upgrade/upgrade-source.ts';
import { CATALOGUE } from './catalogue.fixture.ts';

const sources = new URL('../', import.meta.url);
const pages = new URL('../../../../docs/diagnostics/', import.meta.url);
const CODES = Object.keys(CATALOGUE);

/** The methods that the pages on calls mention. */
const callees: Callees = (target) => {
  if (target === 'wf_circle') return 'cycle';
  const fields = (name: string) => ({
    type: 'object',
    properties: { [name]: { type: 'string' } },
    required: [name],
    additionalProperties: false,
  });
  return target === 'wf_classify' ? { inputSchema: fields('text'), resultSchema: fields('label') } : 'missing';
};

function pageOf(code: string): string {
  return readFileSync(new URL(`${code}.md`, pages), 'utf8');
}

function diagnosticsOf(code: string, source: string): readonly Diagnostic[] {
  return CATALOGUE[code]?.provokedBy === 'upgrade'
    ? upgradeSource(source).diagnostics
    : compileMethod(source, { callees }).diagnostics;
}

test('every code the sources raise is in the catalogue', () => {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.endsWith('catalogue.ts'),
  );
  const raised = new Set(
    files.flatMap((path) =>
      [...readFileSync(new URL(path, sources), 'utf8').matchAll(/['"`]([MU]\d{3})['"`]/g)].map(([, code = '']) => code),
    ),
  );
  assert.ok(raised.size > 50, 'the codes were not found');
  assert.deepEqual(
    [...raised].filter((code) => !CODES.includes(code)),
    [],
  );
});

test('every code has its page, every page its code, and the index names them all', () => {
  const files = readdirSync(pages).filter((name) => name !== 'README.md');
  assert.deepEqual(files.map((name) => name.replace('.md', '')).sort(), [...CODES].sort());
  const index = readFileSync(new URL('README.md', pages), 'utf8');
  for (const [code, { severity, meaning }] of Object.entries(CATALOGUE)) {
    const suffix = severity === 'warning' ? ' (warning)' : '';
    const row = index.split('\n').find((line) => line.startsWith(`| [${code}](${code}.md)`));
    assert.equal(row?.replace(/\s+/g, ' '), `| [${code}](${code}.md) | ${meaning}${suffix} |`);
    const [heading, , text = ''] = pageOf(code).split('\n');
    assert.equal(heading, `# ${code}: ${meaning}`);
    assert.ok(text.startsWith(severity === 'error' ? 'Error. ' : 'Warning. '), code);
  }
});

for (const [code, { severity, provokedBy }] of Object.entries(CATALOGUE)) {
  const [wrong, right] = [...pageOf(code).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block]) => block);
  if (provokedBy === 'elsewhere') {
    test(`the page of ${code} shows no example it cannot prove`, () => assert.equal(wrong, undefined));
    continue;
  }
  test(`the examples on the page of ${code} are wrong and right`, () => {
    assert.ok(wrong !== undefined && right !== undefined);
    const show = (found: readonly Diagnostic[]) => found.map((d) => `${d.code} ${d.severity}`);
    const found = show(diagnosticsOf(code, wrong));
    assert.deepEqual([...new Set(found)], [`${code} ${severity}`]);
    assert.deepEqual(show(diagnosticsOf(code, right)), []);
  });
}
