import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { CliFolder } from '../cli.fixture.ts';
import { COMMANDS } from '../commands.ts';
import { readConfig } from '../config.ts';
import { TerminalProcess } from '../terminal/terminal-process.fixture.ts';
import { shellQuote } from './shell-scripts.ts';

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

/** Returns the completions of bash with the cursor at the end of the last word. */
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

const without = (shell: string) => spawnSync(shell, ['--version']).error !== undefined && `there is no ${shell} here`;

/** Returns the completions of fish for a line with the cursor at its end. */
function inFish(line: string): string[] {
  const script = `source methods.fish; complete -C ${shellQuote(line)}`;
  const { stdout, stderr, status } = spawnSync('fish', ['--no-config', '-c', script], {
    cwd: folder.dir,
    env: { PATH: readConfig().path, HOME: folder.dir },
    encoding: 'utf8',
  });
  assert.deepEqual([stderr, status], ['', 0]);
  return stdout.split('\n').flatMap((offer) => offer.split('\t')[0] || []);
}

test('fish completes commands, their words, their options and files', { skip: without('fish') }, () => {
  assert.deepEqual(inFish('methods ').sort(), [...COMMANDS.map(({ name }) => name), 'help'].sort());
  assert.deepEqual(inFish('methods help upg'), ['upgrade']);
  assert.deepEqual(inFish('methods completion ').sort(), ['bash', 'fish', 'zsh']);
  assert.deepEqual(inFish('methods run --inp'), ['--inputs']);
  assert.deepEqual(inFish('methods run gre'), ['greet.method']);
  assert.deepEqual(inFish('methods run greet.method --inputs inp'), ['inputs.json']);
  // A word that is also the name of a command changes nothing.
  assert.deepEqual(inFish('methods run list --curs'), []);
  assert.deepEqual(inFish('methods check --inp'), []);
});

test('zsh completes commands, their words, their options and files', { skip: without('zsh') }, async () => {
  const env = { PATH: readConfig().path, HOME: folder.dir };
  const terminal = new TerminalProcess('zsh', ['-f', '-i'], { cwd: folder.dir, env });
  try {
    terminal.type("autoload -U compinit; compinit -u -D; source ./methods.zsh; PS1='> '; echo rea''dy\r");
    await terminal.shows('ready');
    for (const [typed, completed] of [
      ['methods che', 'methods check'],
      ['methods help upg', 'methods help upgrade'],
      ['methods keys rev', 'methods keys revoke'],
      ['methods run --inp', 'methods run --inputs'],
      ['methods run gre', 'methods run greet.method'],
      ['methods run greet.method --inputs inp', 'methods run greet.method --inputs inputs.json'],
    ] as const) {
      terminal.type(`${typed}\t`);
      await terminal.shows(`> ${completed}`);
      // Ctrl-U, for the next one.
      terminal.type('\u0015');
    }
  } finally {
    terminal.stop();
  }
});

test('the scripts of zsh and fish name every command with its summary', () => {
  for (const { name, summary } of COMMANDS) {
    for (const shell of ['zsh', 'fish']) {
      const script = scripts.get(shell) ?? '';
      assert.ok(script.includes(name), `${shell} ${name}`);
      assert.ok(script.includes(summary.split(/['":]/)[0] ?? ''), `${shell} ${name}: ${summary}`);
    }
  }
  // zsh needs what bash needs: closed quotes and matching brackets.
  const { stderr, status } = spawnSync('bash', ['-n', 'methods.bash'], { cwd: folder.dir, encoding: 'utf8' });
  assert.deepEqual([stderr, status], ['', 0]);
});

test('another shell is refused', async () => {
  const { code, stderr } = await folder.methods(['completion', 'tcsh']);
  assert.equal(code, 2);
  assert.match(stderr, /no completion for "tcsh"/);
});
