// Files made to crash or stall the upgrade: each ends in a bounded time with a text that compiles, or with an error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import fc from 'fast-check';
import { compileMethod } from '../compile.ts';
import { upgradeSource } from './upgrade-source.ts';

const HEADER = 'format: workflow/1\nworkflow: Weekly report\n';
const BYTES_MAX = 262_144;
const full = (unit: string, before = HEADER) =>
  before + unit.repeat(Math.floor((BYTES_MAX - before.length) / unit.length));
const code = (unit: string, lang: string) =>
  full(unit, `${HEADER}params: [a]\nsteps:\n  - lang: ${lang}\n    run: |\n      `);

const HOSTILE: Readonly<Record<string, string>> = {
  'open names': code('{{', 'shell'),
  'names in shell': code('{{a}} ', 'shell'),
  'names in python': code('{{a}} ', 'python'),
  'names in node': code('{{a}} ', 'node'),
  'literals in python': code('"{{a}}" ', 'python'),
  'literals in node': code('"x {{a}}" + ', 'node'),
  'f-strings': code("f'{' ", 'python'),
  'open f-strings': code('{', 'python').replace('      {', `      f'{`),
  'one long word in shell': code('x', 'shell'),
  'open subscripts': code(' a[', 'shell'),
  'spaces inside a line': `${code('\u2028', 'shell').slice(0, 80_000)}x`,
  'open quotes': code(`"'`, 'python'),
  'triple quotes': code('"""', 'python'),
  substitutions: code('$(', 'shell'),
  'quoted substitutions': code('"$(', 'shell'),
  heredocs: code('<<A ', 'shell'),
  'heredocs in heredocs': code('cat <<A\n      $(', 'shell'),
  'open heredocs with names': code('cat <<A {{a}}\n      ', 'shell'),
  backslashes: code('\\', 'shell'),
  'backslashes in a literal': code('\\', 'python').replace('      \\', '      "\\'),
  comments: full('# a comment\n'),
  'comments before a step': `${`# a comment\n`.repeat(20_000)}${HEADER}steps:\n  - run: ls\n`,
  'comments in steps': full('    # a comment\n', `${HEADER}steps:\n  - run: ls\n`),
  params: full('a=1, ', `${HEADER}params: [`),
  'params one a line': full('  - a=1\n', `${HEADER}params:\n`),
  steps: full('  - run: "{{a}}"\n', `${HEADER}params: [a]\nsteps:\n`),
  conditions: `${HEADER}params: [a]\nsteps:\n${'  - { prompt: "{{a}}", when: "{{a}} == {{a}}" }\n'.repeat(200)}`,
  'a long condition': `${HEADER}steps:\n  - prompt: a\n    when: "${'== '.repeat(80_000)}"\n`,
  'a long question': full('{{a}} ', `${HEADER}params: [a]\nsteps:\n  - prompt: `),
  options: full('x1, ', `${HEADER}steps:\n  - prompt: a\n    options: [`),
  'flow levels': full('[', HEADER),
};

test('the upgrade is warm', () => {
  for (let n = 0; n < 10; n++) upgradeSource(`${HEADER}params: [a]\nsteps:\n  - run: echo '{{a}}'\n`);
});

for (const [what, source] of Object.entries(HOSTILE)) {
  test(`256 KiB of ${what} end in time`, () => {
    // On an idle machine each takes below 200 ms of CPU; the rest is room for one busy with other tests.
    const cpuMs = leastCpuMs(600, () => upgradeSource(source));
    assert.ok(cpuMs < 600, `took ${cpuMs} ms of CPU`);
  });
}

test('any text gives a method that compiles or an error, never a throw', () => {
  const pieces = [
    '{{a}}',
    '{{b}}',
    '{{',
    '}}',
    '"',
    "'",
    '`',
    '$(',
    '$((',
    '))',
    ')',
    '${',
    '}',
    '\\',
    '#',
    '\n      ',
    ' ',
    'f"',
    'r"""',
    '"""',
    '<<E',
    "<<'E'",
    '\n      E\n      ',
    'case x in',
    'esac',
    '/',
    '//',
    '/*',
    '*/',
    '=',
    '{',
    '(',
    ';',
    'x',
    'echo ',
    ': ',
    '- ',
  ];
  const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(''));
  const file = fc
    .tuple(fc.constantFrom('shell', 'python', 'node'), soup, soup, soup)
    .map(
      ([lang, run, when, prompt]) =>
        `${HEADER}params: [a, b=1]\nsteps:\n  - lang: ${lang}\n    run: |\n      ${run}\n  - prompt: ${JSON.stringify(prompt)}\n    when: ${JSON.stringify(when)}\n`,
    );
  const any = fc.string({ unit: 'binary', maxLength: 200 }).map((text) => HEADER + text);
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: file }, any, fc.uint8Array({ maxLength: 100 })), (source) => {
      const { source: text, diagnostics } = upgradeSource(source);
      assert.equal(
        text === null,
        diagnostics.some(({ severity }) => severity === 'error'),
      );
      if (text !== null) assert.ok(compileMethod(text).diagnostics.every(({ severity }) => severity === 'warning'));
    }),
    { numRuns: 1_000 },
  );
});
