import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unreadableFinding } from '@methods/method/code-blocks';
import { compileMethod } from '@methods/method/compile';
import { PATH } from './dependencies/package-index.fixture.ts';
import { refuseUnreadableCode, unreadableCode } from './unreadable-code.ts';

const HERE = { path: PATH };

async function found(steps: string): Promise<string[]> {
  const source = `format: method/2\nname: ab\n${steps}`;
  const { method, diagnostics } = compileMethod(source);
  assert.ok(method, JSON.stringify(diagnostics));
  const faults = await unreadableCode(method, HERE);
  return faults.map((fault) => {
    const { path, line, column, message } = unreadableFinding(source, fault);
    return `${path} ${line}:${column} ${message}`;
  });
}

test('python and shell code that does not parse has its place in the file', async () => {
  const faults = await found(`lib:
  shell: |
    shout() {
      echo "$1"
steps:
  - name: a
    python: |
      if True:
          return {"n": 1 +}
    out: { n: integer }
  - name: b
    steps:
      - name: c
        shell: |
          if true; then
            echo yes
          fi fi
      - name: d
        in: { n: 1 }
        python: "print(n"
finally:
  - name: e
    parallel:
      - name: f
        python: "return break"
      - name: g
        shell: echo "$(date
`);
  assert.deepEqual(
    faults.map((text) => text.replace(/ the code does not parse: .*/, '')),
    [
      'lib.shell 6:7',
      'steps[0].python 11:27',
      'steps[1].steps[0].shell 19:11',
      'steps[1].steps[1].python 22:23',
      'finally[0].parallel[0].python 27:25',
      'finally[0].parallel[1].shell 29:16',
    ],
  );
  assert.match(faults[1] ?? '', /invalid syntax/);
  assert.match(faults[2] ?? '', /syntax error/);
});

test('valid code has no finding, and is not run', async () => {
  assert.deepEqual(
    await found(
      `lib:
  python: |
    import os
    async def later(): return 1
  shell: shopt -s extglob
steps:
  - name: a
    in: { match: 1, items: [1] }
    python: |
      async for x in lib.many(items): print(x)
      print("\\d", match, "\${steps.x.y} {{inputs.z}}")
      exit(3)
  - name: b
    shell: |
      case "$1" in !(a|b)) echo "\${HOME} {{inputs.x}}" ;; esac
      touch /tmp/never-run-by-a-check; exit 3
      cat <<END
      an open text
  - name: c
    python: ""
`.replace('  - name: c\n    python: ""\n', ''),
    ),
    [],
  );
});

test('hostile code gives no finding or one, and a missing interpreter gives none', async () => {
  const deep = `steps:\n  - name: a\n    python: "${'('.repeat(60_000)}"\n  - name: b\n    shell: "${'$('.repeat(20_000)}"\n`;
  const { method } = compileMethod(`format: method/2\nname: ab\n${deep}`);
  assert.ok(method);
  const faults = await unreadableCode(method, HERE);
  for (const { message } of faults) assert.ok(message.length <= 200);
  assert.deepEqual(await unreadableCode(method, { path: '/nowhere' }), []);
});

test('code that is about to run is refused with its line', async () => {
  const { method } = compileMethod('format: method/2\nname: ab\nsteps:\n  - name: a\n    python: "return {"\n');
  assert.ok(method);
  await assert.rejects(refuseUnreadableCode(method, HERE), {
    kind: 'syntax',
    message: /^The code at steps\[0\]\.python, line 5, does not parse: /,
  });
});
