// Pasted names in code: the text each becomes, and that bash, python and node then behave as with the pasted value.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { upgradeCode } from './old-code.ts';
import type { CodeLanguage, OldWorkflow } from './old-workflow.ts';
import { PastedNames } from './pasted-names.ts';

// As the value of `a` and `b`: no language gives these characters a meaning.
const VALUES: Readonly<Record<string, string>> = { a: 'ab-1', b: 'cd/2', order_id: 'x9' };

const WORKFLOW: OldWorkflow = {
  title: null,
  description: null,
  params: [
    { name: 'a', fallback: null },
    { name: 'b', fallback: null },
    { name: 'Order id', fallback: null },
    { name: 'class', fallback: null },
  ],
  env: [],
  steps: [],
  extensions: {},
};

interface Outcome {
  readonly code: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

function upgraded(language: CodeLanguage, code: string): Outcome {
  const notes: string[] = [];
  const found = upgradeCode(code, language, new PastedNames(WORKFLOW), {
    unknown: (paste) => notes.push(`U003 ${paste.words}`),
    quotedHeredoc: (paste) => notes.push(`U002 ${paste.words}`),
    doubt: (paste) => notes.push(`U004 ${paste.words}`),
    oneProcess: (word) => notes.push(`U008 ${word}`),
  });
  return { code: found.code.trimEnd(), variables: Object.fromEntries(found.variables), notes };
}

function run(language: CodeLanguage, code: string, values: Readonly<Record<string, string>>): string {
  const [command, args] =
    language === 'shell'
      ? (['bash', ['-euo', 'pipefail', '-c', code]] as const)
      : language === 'python'
        ? ([
            'python3',
            [
              '-c',
              `import os\n${Object.entries(values)
                .map(([k, v]) => `${k} = ${JSON.stringify(v)}\n`)
                .join('')}${code}`,
            ],
          ] as const)
        : ([
            'node',
            [
              '-e',
              `(async (${Object.keys(values).join(', ')}) => {\n${code}\n})(${Object.values(values)
                .map((v) => JSON.stringify(v))
                .join(', ')})`,
            ],
          ] as const);
  const given = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  const { stdout, stderr, status } = spawnSync('env', [...given, command, ...args], { encoding: 'utf8' });
  assert.equal(status, 0, `${code}\n${stderr}`);
  return stdout;
}

/** The old code with values pasted, as workflow/1 did it. */
function pasted(code: string): string {
  return code.replace(
    /\{\{\s*(a|b|Order id)\s*\}\}/g,
    (_, name: string) => VALUES[name === 'Order id' ? 'order_id' : name] ?? '',
  );
}

const SHELL: readonly (readonly [what: string, old: string, now: string])[] = [
  ['bare', 'echo {{a}} {{ b }}', 'echo "${a}" "${b}"'],
  ['glued to a word', 'echo x{{a}}.txt', 'echo x"${a}".txt'],
  ['in double quotes', 'echo "a {{a}} b"', 'echo "a ${a} b"'],
  ['in single quotes', "echo 'a {{a}} b'", `echo 'a '"\${a}"' b'`],
  ['in single quotes within double ones', `echo "it's {{a}}"`, `echo "it's \${a}"`],
  ['in ANSI quotes', "echo $'a\\t{{a}}\\'\\n'", `echo $'a\\t'"\${a}"$'\\'\\n'`],
  ['after an escaped quote', 'echo "\\"{{a}}\\"" \\"{{b}}', 'echo "\\"${a}\\"" \\""${b}"'],
  ['in a comment', 'echo 1 # {{a}} "\necho {{b}}', 'echo 1 # {{a}} "\necho "${b}"'],
  [
    'after a # that is none',
    'echo a#{{a}} "${#PATH}" >/dev/null; echo $#{{b}}',
    'echo a#"${a}" "${#PATH}" >/dev/null; echo $#"${b}"',
  ],
  [
    'in an open heredoc',
    'cat <<END\nx "{{a}}" \'{{b}}\'\nEND\necho {{a}}',
    'cat <<END\nx "${a}" \'${b}\'\nEND\necho "${a}"',
  ],
  ['in a heredoc with tabs', 'cat <<-END\n\t{{a}}\n\tEND\necho {{b}}', 'cat <<-END\n\t${a}\n\tEND\necho "${b}"'],
  [
    'in two heredocs of one line',
    'cat <<A - /dev/fd/3 3<<B\n{{a}}\nA\n"{{b}}"\nB\necho \'{{a}}\'',
    'cat <<A - /dev/fd/3 3<<B\n${a}\nA\n"${b}"\nB\necho \'\'"${a}"\'\'',
  ],
  ['in a substitution within quotes', 'echo "x $(echo {{a}} "{{b}}") {{a}}"', 'echo "x $(echo "${a}" "${b}") ${a}"'],
  ['in backticks', 'echo "x `echo {{a}}` {{b}}"', 'echo "x `echo "${a}"` ${b}"'],
  [
    'in a substitution in a heredoc',
    'cat <<END\n$(echo {{a}} | tr a-z A-Z) {{b}}\nEND',
    'cat <<END\n$(echo "${a}" | tr a-z A-Z) ${b}\nEND',
  ],
  [
    'in a heredoc in a substitution',
    'x="$(cat <<END\n{{a}}\nEND\n)"; echo "$x {{b}}"',
    'x="$(cat <<END\n${a}\nEND\n)"; echo "$x ${b}"',
  ],
  [
    'behind a case in a substitution',
    'echo "$(case {{a}} in x) echo 1;; *) echo "{{b}}";; esac) {{a}}"',
    'echo "$(case "${a}" in x) echo 1;; *) echo "${b}";; esac) ${a}"',
  ],
  ['as a default of a parameter', 'echo "${NONE:-{{a}}}" ${NONE:-{{b}}}', 'echo "${NONE:-${a}}" ${NONE:-"${b}"}'],
  ['in a here-string', 'cat <<< {{a}}', 'cat <<< "${a}"'],
  ['after a backslash in quotes', 'echo "x\\\\{{a}}"', 'echo "x\\\\${a}"'],
  ['as a value', 'x={{a}}; [ "$x" = "{{a}}" ] && echo yes', 'x="${a}"; [ "$x" = "${a}" ] && echo yes'],
  ['braces that are no names', 'echo \'{{.ID}}\' {{"x"}} {{}} {{a}}', 'echo \'{{.ID}}\' {{"x"}} {{}} "${a}"'],
  ['by an old name with spaces', 'echo "{{Order id}} {{order_id}}"', 'echo "${order_id} ${order_id}"'],
];

for (const [what, old, now] of SHELL) {
  test(`shell: a name ${what}`, () => {
    const outcome = upgraded('shell', old);
    assert.equal(outcome.code, now);
    assert.deepEqual(outcome.notes, []);
    if (!old.includes('order_id')) assert.equal(run('shell', outcome.code, VALUES), run('shell', pasted(old), {}));
  });
}

const PYTHON: readonly (readonly [what: string, old: string, now: string])[] = [
  ['as a whole literal', 'print("{{a}}", \'{{b}}\', """{{a}}""", r"{{b}}")', 'print(a, b, a, b)'],
  ['inside a literal', 'print("x {{a}} y", "{{a}}{{b}}")', 'print(("x " + a + " y"), (a + b))'],
  ['beside an operator', 'print("x {{a}}" * 2, "%s {{a}}" % 5)', 'print(("x " + a) * 2, ("%s " + a) % 5)'],
  ['in an f-string', 'n = 2\nprint(f"{n} {{a}} {n:>3} {{b}}")', 'n = 2\nprint(f"{n} {a} {n:>3} {b}")'],
  [
    'in an expression of an f-string',
    `d = {"ab-1": 7}\nprint(f'{d["{{a}}"]} {{b}}')`,
    `d = {"ab-1": 7}\nprint(f'{d[a]} {b}')`,
  ],
  [
    'in literals side by side',
    'print("x {{a}} {n}\\n"\n  "y", "z" "{{b}}")',
    'print(f"x {a} {{n}}\\n"\n  "y", "z" f"{b}")',
  ],
  ['in a raw literal', 'print(r"\\d {{a}} \\" \\\\")', 'print(("\\\\d " + a + " \\\\\\" \\\\\\\\"))'],
  ['in bytes', 'print(b"x {{a}}", b"{{b}}")', 'print((b"x " + a.encode()), b.encode())'],
  ['in a comment', 'print(1) # "{{a}}\nprint("{{b}}")', 'print(1) # "{{a}}\nprint(b)'],
  ['as a key', 'print({"{{a}}": "{{b}}"})', 'print({a: b})'],
  ['in a text of several lines', 'print("""x\n{{a}} "q"\ny""")', 'print(("""x\n""" + a + """ "q"\ny"""))'],
  ['that the script uses itself', 'b = 1\nprint("{{a}}", "{{b}}", b)', 'b = 1\nprint(a, b_2, b)'],
  ['in braces that are no names', `x = 5\nprint(f'{{"k": {x}}}', "{{a}}")`, `x = 5\nprint(f'{{"k": {x}}}', a)`],
];

for (const [what, old, now] of PYTHON) {
  test(`python: a name ${what}`, () => {
    const outcome = upgraded('python', old);
    assert.equal(outcome.code, now);
    assert.deepEqual(outcome.notes, []);
    assert.equal(run('python', outcome.code, { ...VALUES, b_2: 'cd/2' }), run('python', pasted(old), {}));
  });
}

const NODE: readonly (readonly [what: string, old: string, now: string])[] = [
  ['as a whole literal', `console.log("{{a}}", '{{b}}')`, 'console.log(a, b)'],
  [
    'inside a literal',
    `console.log("x {{a}} y".length, '{{a}}{{b}}')`,
    `console.log(("x " + a + " y").length, (a + b))`,
  ],
  ['in backticks', 'console.log(`x {{a}} ${"y {{b}}"} $\\{`)', 'console.log(`x ${a} ${("y " + b)} $\\{`)'],
  [
    'as a key',
    'console.log({ "{{a}}": 1, x: 2, "k {{b}}": "{{a}}" })',
    'console.log({ [a]: 1, x: 2, [("k " + b)]: a })',
  ],
  [
    'in a choice and a case',
    'switch ("ab-1") { case "{{a}}": console.log(true ? "{{b}}" : 1) }',
    'switch ("ab-1") { case a: console.log(true ? b : 1) }',
  ],
  [
    'behind a pattern with quotes',
    'console.log("q".replace(/["\'`]/, ""), "{{a}}")',
    'console.log("q".replace(/["\'`]/, ""), a)',
  ],
  [
    'in comments',
    '// "{{a}}\n/* `{{b}} */ console.log("{{b}}") // {{a}}',
    '// "{{a}}\n/* `{{b}} */ console.log(b) // {{a}}',
  ],
  [
    'that the script uses itself',
    'const b = "{{b}}"; console.log(b, { a: 1 }.a)',
    'const b = b_2; console.log(b, { a: 1 }.a)',
  ],
];

for (const [what, old, now] of NODE) {
  test(`node: a name ${what}`, () => {
    const outcome = upgraded('node', old);
    assert.equal(outcome.code, now);
    assert.deepEqual(outcome.notes, []);
    const { b, ...rest } = VALUES;
    const values = outcome.code.includes('b_2') ? { ...rest, b_2: b ?? '' } : VALUES;
    assert.equal(run('node', outcome.code, values), run('node', pasted(old), {}));
  });
}

const DOUBTS: readonly (readonly [what: string, language: CodeLanguage, old: string, now: string, notes: string[]])[] =
  [
    ['a value pasted as python code', 'python', 'x = {{a}} + 1', 'x = a + 1', ['U004 a']],
    ['a value pasted as node code', 'node', 'let n = {{a}}', 'let n = a', ['U004 a']],
    [
      'a value pasted into a pattern',
      'node',
      '/^{{a}}$/i.test("x")',
      'new RegExp("^" + a + "$", "i").test("x")',
      ['U004 a'],
    ],
    ['a command', 'shell', '{{a}} --now && {{b}}', '"${a}" --now && "${b}"', ['U004 a', 'U004 b']],
    [
      'a list to loop over',
      'shell',
      'for x in {{a}} {{b}}; do echo "$x"; done',
      'for x in "${a}" "${b}"; do echo "$x"; done',
      ['U004 a', 'U004 b'],
    ],
    ['a number to calculate with', 'shell', 'echo $(( {{a}} + 1 )) "{{b}}"', 'echo $(( ${a} + 1 )) "${b}"', ['U004 a']],
    ['the name of a variable', 'shell', 'echo "${{a}}" ${{{b}}}', 'echo "${!a}" ${!b}', ['U004 a', 'U004 b']],
    ['code whose quotes do not close', 'shell', "echo 'x {{a}}", `echo 'x '"\${a}"'`, ['U004 a']],
    ['code that is no JavaScript', 'node', 'let x = "{{a}}" @ "{{b}}"', 'let x = a @ "b"', ['U004 a', 'U004 b']],
    [
      'a quoted heredoc',
      'shell',
      "cat <<'END'\n{{a}}\nEND\necho {{b}}",
      'cat <<\'END\'\n{{a}}\nEND\necho "${b}"',
      ['U002 a'],
    ],
    ['a heredoc with an escaped word', 'shell', 'cat <<\\END\n{{a}}\nEND', 'cat <<\\END\n{{a}}\nEND', ['U002 a']],
    ['a name nothing has', 'python', 'print("{{nope}}")', 'print()', ['U003 nope']],
    [
      'a global variable',
      'python',
      'n = 1\ndef f():\n    global n',
      'n = 1\ndef f():\n    global n',
      ['U008 global n'],
    ],
    ['processes', 'python', 'import multiprocessing', 'import multiprocessing', ['U008 multiprocessing']],
  ];

for (const [what, language, old, now, notes] of DOUBTS) {
  test(`${language}: ${what} is pointed out`, () => {
    const outcome = upgraded(language, old);
    assert.equal(outcome.code, now);
    assert.deepEqual(outcome.notes, notes);
  });
}

test('a variable never takes a name the script or the language uses', () => {
  assert.deepEqual(upgraded('shell', 'a=1; echo {{a}} $a').variables, { a_2: 'inputs.a' });
  assert.deepEqual(upgraded('shell', 'read -r b; for a in 1; do :; done; echo {{a}}{{b}}').variables, {
    a_2: 'inputs.a',
    b_2: 'inputs.b',
  });
  assert.deepEqual(upgraded('node', 'console.log("{{class}}")').variables, { class_2: 'inputs.class' });
  assert.deepEqual(upgraded('shell', 'curl "https://x/?a={{a}}&b={{b}}"').variables, { a: 'inputs.a', b: 'inputs.b' });
});
