// `dependencies` and `lib`: accepted forms, refused forms and hints.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMethod } from '../compile.ts';

const HEADER = 'format: method/2\nname: ab\n';
const END = 'steps:\n  - name: one\n    node: f()\n';

function compiled(top: string) {
  const { method, diagnostics } = compileMethod(`${HEADER}${top}\n${END}`);
  assert.deepEqual(diagnostics, []);
  assert.ok(method);
  return method;
}

function findings(top: string): string[] {
  return compileMethod(`${HEADER}${top}\n${END}`).diagnostics.map(({ code, path, hint }) => `${code} ${path} ${hint}`);
}

test('dependencies are read as given', () => {
  const { dependencies } = compiled(
    'dependencies:\n  node: 20\n  python: 3.10\n  npm: [stripe@17.5.0, "@aws-sdk/client-s3@3.1.0-rc.1"]\n  pip: [pandas==2.2.3, "uvicorn[standard]==0.30"]\n  commands: [git, g++]',
  );
  assert.deepEqual(dependencies, {
    node: '20',
    python: '3.10',
    npm: [
      { name: 'stripe', version: '17.5.0' },
      { name: '@aws-sdk/client-s3', version: '3.1.0-rc.1' },
    ],
    pip: [
      { name: 'pandas', version: '2.2.3' },
      { name: 'uvicorn[standard]', version: '0.30' },
    ],
    commands: ['git', 'g++'],
  });
});

test('a method without dependencies and lib needs nothing', () => {
  const method = compiled('title: none');
  assert.deepEqual(method.dependencies, { node: null, python: null, npm: [], pip: [], commands: [] });
  assert.deepEqual(method.lib, {});
});

const REFUSED: readonly (readonly [given: string, finding: string])[] = [
  ['dependencies: [stripe]', 'M701 dependencies for example  dependencies: { npm: [stripe@17.5.0] }'],
  ['dependencies: { node: ">=20" }', 'M701 dependencies.node write  node: 20'],
  ['dependencies: { python: latest }', 'M701 dependencies.python write  python: 3.11'],
  ['dependencies: { npm: stripe@17.5.0 }', 'M701 dependencies.npm for example  npm: [stripe@17.5.0]'],
  ['dependencies: { npm: [stripe] }', 'M702 dependencies.npm[0] write  stripe@1.2.3'],
  ['dependencies: { npm: [stripe@^17.5.0] }', 'M702 dependencies.npm[0] write  stripe@17.5.0'],
  ['dependencies: { npm: [stripe@latest] }', 'M702 dependencies.npm[0] write  stripe@1.2.3'],
  ['dependencies: { npm: [a@1.0.0, a@1.0.1] }', 'M003 dependencies.npm[1] remove one of the two'],
  ['dependencies: { npm: [./local] }', 'M701 dependencies.npm[0] for example  stripe@17.5.0'],
  ['dependencies: { npm: ["--registry=http://x@1.0.0"] }', 'M701 dependencies.npm[0] for example  stripe@17.5.0'],
  ['dependencies: { pip: [pandas] }', 'M702 dependencies.pip[0] write  pandas==1.2.3'],
  ['dependencies: { pip: [pandas>=2.2.3] }', 'M702 dependencies.pip[0] write  pandas==2.2.3'],
  ['dependencies: { pip: [pandas==2.*] }', 'M702 dependencies.pip[0] write  pandas==1.2.3'],
  ['dependencies: { pip: [pandas===2.2.3] }', 'M702 dependencies.pip[0] write  pandas==2.2.3'],
  ['dependencies: { pip: [my_pkg==1.0, my-pkg==1.0] }', 'M003 dependencies.pip[1] remove one of the two'],
  ['dependencies: { pip: ["-r other.txt"] }', 'M701 dependencies.pip[0] for example  pandas==2.2.3'],
  [
    'dependencies: { commands: [/bin/sh] }',
    'M701 dependencies.commands[0] a name on PATH such as git, without folder or options',
  ],
  ['dependencies: { requirements: [a] }', 'M101 dependencies.requirements did you mean "pip"?'],
  ['lib: f()', 'M112 lib write  lib:  and below it  node: |'],
  ['lib: { node: "" }', 'M112 lib.node write  node: |  and the code below'],
  ['lib: { bash: f }', 'M101 lib.bash did you mean "shell"?'],
  [`lib:\n  shell: "${'a'.repeat(65_537)}"`, 'M804 lib.shell undefined'],
];

for (const [given, finding] of REFUSED) {
  test(`${given.slice(0, 60)} is refused`, () => assert.deepEqual(findings(given), [finding]));
}

test('a list of packages ends at a hundred', () => {
  const many = Array.from({ length: 101 }, (_, n) => `p${n}@1.0.0`).join(', ');
  assert.deepEqual(findings(`dependencies: { npm: [${many}] }`), ['M803 dependencies.npm undefined']);
});

test('lib holds code with the line it starts at', () => {
  const { lib } = compiled('lib:\n  node: |\n    export const one = 1\n  shell: f() { g; }');
  assert.deepEqual(lib, {
    node: { code: 'export const one = 1\n', line: 5 },
    shell: { code: 'f() { g; }', line: 6 },
  });
});
