import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { CliFolder } from '../cli.fixture.ts';
import { COMMANDS } from '../commands.ts';

let folder: CliFolder;
const scripts = new Map<string, string>();

before(async () => {
  folder = await CliFolder.make({ 'greet.method': '', 'inputs.json': '{}' });
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await folder.methods(['completion', shell]);
    assert.equal(code, 0, shell);
    scripts.set(shell, stdout);
    await folder.write(`methods.${shell}`, stdout);
  }
});
after(() => folder.remove());

/** What bash offers with the cursor at the end of the last word. */
function offered(...words: string[]): string[] {
  const line = `
    source ./methods.bash
    COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
    _methods
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', line, 'bash', 'methods', ...words], {
    cwd: folder.dir,
    encoding: 'utf8',
  });
  assert.deepEqual([stderr, status], ['', 0]);
  return stdout.split('\n').filter((word) => word !== '');
}

test('bash completes commands, their words and their options', () => {
  assert.deepEqual(offered('').sort(), [...COMMANDS.map(({ name }) => name), 'help', '--help'].sort());
  assert.deepEqual(offered('ch'), ['check']);
  assert.deepEqual(offered('help', 'upg'), ['upgrade']);
  assert.deepEqual(offered('completion', ''), ['bash', 'zsh', 'fish']);
  assert.deepEqual(offered('run', '--inp'), ['--inputs']);
  assert.ok(offered('run', '-').includes('-q'));
  assert.deepEqual(offered('check', '--inp'), []);
  assert.deepEqual(offered('nothing', ''), []);
});

test('bash leaves files to the shell: operands, and the values of options', () => {
  assert.deepEqual(offered('run', 'gre'), []);
  assert.deepEqual(offered('run', 'greet.method', '--inputs', '--'), []);
  assert.match(scripts.get('bash') ?? '', /^complete -o bashdefault -o default -F _methods methods$/m);
});

for (const shell of ['zsh', 'fish']) {
  const missing = spawnSync(shell, ['--version']).error !== undefined;
  test(`${shell} can read its script`, { skip: missing && `there is no ${shell} here` }, () => {
    const { stderr, status } = spawnSync(shell, ['-n', `methods.${shell}`], { cwd: folder.dir, encoding: 'utf8' });
    assert.deepEqual([stderr, status], ['', 0]);
  });
}

test('the scripts of zsh and fish name every command with what it does', () => {
  for (const { name, summary } of COMMANDS) {
    for (const shell of ['zsh', 'fish']) {
      const script = scripts.get(shell) ?? '';
      assert.ok(script.includes(name), `${shell} ${name}`);
      assert.ok(script.includes(summary.split(/['":]/)[0] ?? ''), `${shell} ${name}: ${summary}`);
    }
  }
  // zsh reads what bash does not choke on either: quotes that are closed, brackets that match.
  const { stderr, status } = spawnSync('bash', ['-n', 'methods.bash'], { cwd: folder.dir, encoding: 'utf8' });
  assert.deepEqual([stderr, status], ['', 0]);
});

test('another shell is refused', async () => {
  const { code, stderr } = await folder.methods(['completion', 'tcsh']);
  assert.equal(code, 2);
  assert.match(stderr, /no completion for "tcsh"/);
});
