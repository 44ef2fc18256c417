// Whole files of workflow/1: the text they become, what is refused, and where.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { compileMethod } from '../compile.ts';
import { upgradeSource } from './upgrade-source.ts';

const HEADER = 'format: workflow/1\nworkflow: Weekly report\n';

const REPORT = `# Asks before it sends.
${HEADER}description: Sends a customer the week's orders.
params: [customer, days=7]
env: [API_TOKEN]
steps:
  # read the shop
  - name: Fetch orders
    run: |
      curl -sf -H "Authorization: Bearer $API_TOKEN" "https://shop.example.com/orders?c={{customer}}&days={{days}}"
    timeout: 60
    retries: 2
  - name: Count
    lang: python # the numbers
    run: |
      import json
      orders = json.loads("""{{Fetch orders}}""")
      print(len(orders) // int("{{days}}"))
  - name: Approve
    prompt: Send {{Count}} orders a day to {{customer}}?
    options: [yes, no]
  - name: Send
    when: "{{Approve}} == yes"
    run: |
      ./send.sh '{{customer}} report' {{Count}} <<END
      Dear {{customer}}
      END
    ignore_errors: true
# the end
`;

const UPGRADED = `# Upgraded from workflow/1, sha256 ${createHash('sha256').update(REPORT).digest('hex')}
# Asks before it sends.
format: method/2
name: weekly-report
title: Weekly report
description: Sends a customer the week's orders.

inputs:
  customer: string
  days: string = "7"

secrets: [ API_TOKEN ]

steps:
  # read the shop
  - name: fetch_orders
    title: Fetch orders
    in: { customer: =inputs.customer, days: =inputs.days }
    secrets: [ API_TOKEN ]
    shell: |
      curl -sf -H "Authorization: Bearer $API_TOKEN" "https://shop.example.com/orders?c=\${customer}&days=\${days}"
    stdout: text
    out: { text: string }
    retry: 2
    limits: { timeout: 60s }

  # the numbers
  - name: count
    title: Count
    in: { fetch_orders: =steps.fetch_orders.text, days: =inputs.days }
    python: |
      import json
      orders = json.loads(fetch_orders)
      print(len(orders) // int(days))
    stdout: text
    out: { text: string }
    limits: { timeout: 1d }

  - name: approve
    title: Approve
    ask: Send \${steps.count.text} orders a day to \${inputs.customer}?
    out: { answer: [ yes, no ] }

  - name: send
    title: Send
    if: steps.approve.answer == "yes"
    in: { customer: =inputs.customer, count: =steps.count.text }
    shell: |
      ./send.sh ''"\${customer}"' report' "\${count}" <<END
      Dear \${customer}
      END
    stdout: text
    out: { text: string }
    limits: { timeout: 1d }
    on_error: continue

result: { output: =steps.send?.text }
# the end
`;

test('a whole file becomes a method/2 text that compiles, the same each time', () => {
  const upgrade = upgradeSource(REPORT);
  assert.deepEqual(upgrade, { changed: true, source: UPGRADED, diagnostics: [] });
  assert.deepEqual(upgradeSource(new TextEncoder().encode(REPORT)), upgrade);
  assert.deepEqual(
    compileMethod(UPGRADED).diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  );
});

test('method/2 and workflow/2 pass through unchanged, whether they are valid or not', () => {
  for (const source of ['format: method/2\nname: ab\n', 'format: workflow/2\r\nworkflow: x\n']) {
    assert.deepEqual(upgradeSource(source), { changed: false, source, diagnostics: [] });
  }
});

/** The new text of steps given as YAML list items. */
function stepsOf(steps: string, more = ''): string {
  const { source, diagnostics } = upgradeSource(`${HEADER}${more}steps:\n${steps}`);
  assert.ok(source !== null, JSON.stringify(diagnostics));
  return source;
}

test('names that would be the same are numbered, in the file and in code', () => {
  const source = stepsOf(
    '  - name: Days\n    run: echo {{days}}\n  - name: days\n    run: echo {{Days}}\n  - run: echo {{days}}\n',
    'params: [days]\n',
  );
  assert.deepEqual(source.match(/name: \w+$/gm), ['name: days_2', 'name: days_3', 'name: step_3']);
  assert.deepEqual(source.match(/^ {4}in: .*$/gm), [
    '    in: { days: =inputs.days }',
    '    in: { days_2: =steps.days_2.text }',
    '    in: { days_3: =steps.days_3.text }',
  ]);
});

test('a step that may have no output is read as an empty text', () => {
  const source = stepsOf(
    '  - name: a\n    when: "{{p}}"\n    run: ls\n  - name: b\n    run: echo {{a}}\n  - name: c\n    when: "{{a}} != {{b}}"\n    prompt: "{{a}}?"\n',
    'params: [p]\n',
  );
  assert.match(source, /^ {4}if: inputs\.p != ""$/m);
  assert.match(source, /^ {4}in: \{ a: =steps\.a\?\.text \?\? "" \}$/m);
  assert.match(source, /^ {4}if: \(steps\.a\?\.text \?\? ""\) != steps\.b\.text$/m);
  assert.match(source, /^ {4}ask: \$\{steps\.a\?\.text \?\? ""\}\?$/m);
  assert.match(source, /^result: \{ output: =steps\.b\.text \}$/m);
});

test('questions keep their dollars and signs', () => {
  const { method, diagnostics } = compileMethod(
    stepsOf(
      '  - name: a\n    prompt: "=Pay ${{p}} or $${x} {{p}}${{p}}?"\n  - name: b\n    prompt: ok?\n    options: [date, 1]\n',
      'params: [p]\n',
    ),
  );
  assert.deepEqual(diagnostics, []);
  const ask = method?.steps[0];
  assert.ok(ask?.kind === 'ask' && ask.question.kind === 'text');
  assert.deepEqual(
    ask.question.parts.map((part) => (typeof part === 'string' ? part : part.source)),
    ['"="', 'Pay ', '"$"', 'inputs.p', ' or $${x} ', 'inputs.p', '"$"', 'inputs.p', '?'],
  );
});

const CONDITIONS: readonly (readonly [old: string, now: string | null])[] = [
  ['"{{p}} == yes"', 'inputs.p == "yes"'],
  ['"{{ p }}=={{q}}"', 'inputs.p == inputs.q'],
  ['"{{p}} != \'a b\'"', 'inputs.p != "a b"'],
  ['"{{p}} contains x"', 'inputs.p.includes("x")'],
  ['"{{p}} == \'\'"', 'inputs.p == ""'],
  ['"{{p}}"', 'inputs.p != ""'],
  ['"{{p}}-{{q}} == a-{{p}}"', '(inputs.p + "-" + inputs.q) == ("a-" + inputs.p)'],
  ['\'{{p}} == "a == b"\'', 'inputs.p == "a == b"'],
  ['"{{p}} == a and {{q}} == b"', null],
  ['"{{p}} == a || x"', null],
  ['"{{p}} > 1"', null],
  ['"not {{p}}"', null],
  ['"{{p}} =="', null],
  ['yes', null],
  ['true', null],
  ['[a]', null],
];

for (const [old, now] of CONDITIONS) {
  test(`the condition ${old} is ${now ?? 'refused'}`, () => {
    const { source, diagnostics } = upgradeSource(
      `${HEADER}params: [p, q]\nsteps:\n  - name: a\n    prompt: a\n    when: ${old}\n`,
    );
    if (now === null)
      assert.deepEqual(
        diagnostics.map(({ code, line }) => [code, line]),
        [['U005', 7]],
      );
    else assert.equal(/if: (.*)/.exec(source ?? '')?.[1]?.replace(/^'(.*)'$/, '$1'), now);
  });
}

const REFUSED: readonly (readonly [what: string, source: string, found: string])[] = [
  ['another format', 'format: method/3\n', '1:1 U001'],
  ['no file of ours', 'hello', '1:1 U001'],
  ['bytes that are no text', '\0', '1:1 M002'],
  ['broken YAML', `${HEADER}steps: [`, '3:9 M001'],
  ['no steps', HEADER, '1:1 U001'],
  ['an unknown key', `${HEADER}stepz: []\nsteps:\n  - run: ls\n`, '3:1 U001'],
  ['a step with run and prompt', `${HEADER}steps:\n  - { run: ls, prompt: x }\n`, '4:5 U001'],
  ['an unknown language', `${HEADER}steps:\n  - run: ls\n    lang: perl\n`, '5:11 U001'],
  ['a name nothing has', `${HEADER}params: [customer]\nsteps:\n  - run: |\n      echo {{custmer}}\n`, '6:12 U003'],
  ['a later step', `${HEADER}steps:\n  - run: echo {{B}}\n  - name: B\n    run: ls\n`, '4:15 U003'],
  ['a quoted heredoc', `${HEADER}params: [a]\nsteps:\n  - run: |\n      cat <<'E'\n      {{a}}\n      E\n`, '7:7 U002'],
  ['run as a mapping', `${HEADER}steps:\n  - run:\n      echo a: b\n`, '5:7 U007'],
  ['a timeout that is no number', `${HEADER}steps:\n  - run: ls\n    timeout: 5m\n`, '5:14 U001'],
  [
    'an answer outside the options',
    `${HEADER}steps:\n  - name: A\n    prompt: a\n    options: [x]\n  - run: ls\n    when: "{{A}} == y"\n`,
    '7:5 U009',
  ],
  ['a secret of a form that is not allowed', `${HEADER}env: [token]\nsteps:\n  - run: echo $token\n`, '1:1 U009'],
];

for (const [what, source, found] of REFUSED) {
  test(`${what} is refused, and nothing is written`, () => {
    const upgrade = upgradeSource(source);
    assert.equal(upgrade.source, null);
    assert.equal(upgrade.changed, false);
    assert.deepEqual(
      upgrade.diagnostics.slice(0, 1).map(({ line, column, code }) => `${line}:${column} ${code}`),
      [found],
    );
  });
}

test('warnings come with the text and their places', () => {
  const { source, diagnostics } = upgradeSource(
    `${HEADER}params: [n]\nsteps:\n  - name: A\n    lang: python\n    run: |\n      x = 1\n      print({{n}} + x)\n`,
  );
  assert.ok(source?.includes('print(n + x)'));
  assert.deepEqual(
    diagnostics.map(({ code, severity, line, column, path }) => [code, severity, line, column, path]),
    [['U004', 'warning', 9, 13, 'steps[0].run']],
  );
});

test('code that begins with spaces, ends without a line, or holds odd lines is unchanged', () => {
  const source = stepsOf(
    '  - lang: python\n    run: "  if 1:\\n\\n    print(1)  \\n  \\n"\n  - run: "echo \'# no comment\'"\n',
  );
  assert.match(source, / {4}python: \|2\n {8}if 1:\n\n {10}print\(1\)\n {4}stdout/);
  assert.match(source, / {4}shell: \|\n {6}echo '# no comment'\n/);
});
