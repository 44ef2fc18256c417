import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { isRunning } from '@methods/base/running-process';
import type { JsonValue } from '@methods/method/json';
import { until } from '@methods/test/harness/until';
import { CodeHarness } from './code-harness.fixture.ts';
import { literal, node, out } from './hand-built-method.fixture.ts';
import { RunFolder } from './run-folder.ts';
import { RUNNER_DIR } from './runners/runner-launch.ts';
import type { StepContext } from './step-context.ts';

let harness: CodeHarness;
before(async () => {
  harness = await CodeHarness.start();
});
after(() => harness.stop());

type Options = Parameters<typeof node>[2];
const shell = (code: string, options: Options = {}) => node('only', code, { kind: 'shell', ...options });
const run = (code: string, options: Options = {}, more: Partial<StepContext> = {}) =>
  harness.run(shell(code, options), more);

async function returned(code: string, options: Options = {}, more: Partial<StepContext> = {}) {
  const end = await run(code, options, more);
  assert.equal(end.failure, null, `${end.failure?.message} ${end.log?.text}`);
  return end.returned;
}

async function failure(code: string, options: Options = {}, more: Partial<StepContext> = {}) {
  const { failure: failed, log } = await run(code, options, more);
  return { kind: failed?.kind, message: failed?.message ?? '', detail: failed?.detail ?? {}, log: log?.text ?? '' };
}

describe('a shell step', () => {
  it('gets its values as variables, never as code', async () => {
    const text = '$(touch /tmp/pwned) `id` "quoted" \'single\' \\ ä';
    const inputs = {
      text: literal(text),
      list: literal([1, 'a b']),
      object: literal({ a: null }),
      flag: literal(true),
      nothing: literal(null),
      large: literal('x'.repeat(70_000)),
    };
    const value = await returned(
      'step out text "$text"; step out list "$list"; step out object "$object"; step out flag "$flag"; ' +
        'step out nothing "[$nothing]"; step out large "${large-unset}"; step out bytes "$(wc -c < "$STEP_IN")"',
      { inputs },
    );
    const bytes = Buffer.byteLength(
      JSON.stringify(Object.fromEntries(Object.entries(inputs).map(([k, v]) => [k, 'value' in v ? v.value : null]))),
    );
    assert.deepEqual(value, {
      text,
      list: '[1,"a b"]',
      object: '{"a":null}',
      flag: 'true',
      nothing: '[]',
      large: 'unset',
      bytes: String(bytes),
    });
    assert.equal((await failure('true', { inputs: { text: literal('a\0b') } })).kind, 'input');
  });

  it('sees only the environment of a step, with no input to read', async () => {
    const value = await returned(
      'step out env "$(env | cut -d= -f1 | sort | tr "\\n" " ")"; step out stdin "$(cat)"; step out cwd "$PWD"; ' +
        'step out all "$STEP_NAME $STEP_TRY $TZ $TOKEN_A ${#STEP_KEY} $# [$-]"; [[ $PWD == "$STEP_DIR" && $HOME == "$PWD" ]]',
      { secrets: ['TOKEN_A'] },
      {
        tryNumber: 2,
        secrets: new Map([
          ['TOKEN_A', 'aaaaaaaa'],
          ['TOKEN_B', 'bbbbbbbb'],
        ]),
      },
    );
    const { env, stdin, all } = value as { env: string; stdin: string; all: string };
    const names = 'HOME LANG PATH PWD SHLVL STEP_DIR STEP_IN STEP_KEY STEP_NAME STEP_TRY TMPDIR TOKEN_A TZ _ ';
    assert.equal(env, names);
    assert.equal(stdin, '');
    assert.match(all, /^only 2 UTC aaaaaaaa 32 0 \[[a-zBE]*e[a-zBE]*\]$/);
  });

  it('reads its out by the types that are declared, from arguments, stdin and nested programs', async () => {
    const declared = out({
      n: { type: 'integer' },
      list: { type: 'array' },
      text: { type: 'string' },
      word: { enum: ['a'] },
    });
    const value = await returned(
      'step out n 3\necho "[1, 2]" | step out list\nbash -c \'step out text "{\\"a\\": 1}"\'\nstep out word a\nstep out word a',
      { out: declared },
    );
    assert.deepEqual(value, { n: 3, list: [1, 2], text: '{"a": 1}', word: 'a' });
    const odd = 'a"b\\c\nd\te\rf\u0001g\u001fh&ü';
    assert.deepEqual(await returned('step out odd "$odd"', { inputs: { odd: literal(odd) } }), { odd });
  });

  it('stops at the first command that fails, with its line and its output', async () => {
    const plain = await failure('true\nls /nowhere-at-all\nstep out never 1');
    assert.equal(plain.kind, 'exit');
    assert.match(plain.message, /exit code 2: ls: cannot access '\/nowhere-at-all'/);
    assert.deepEqual([plain.detail.line, plain.detail.code], [11, 2]);
    const unbound = await failure('true\n\necho "$missing"');
    assert.deepEqual([unbound.kind, unbound.detail.line], ['exit', 12]);
    assert.match(unbound.message, /missing: unbound variable/);
    const piped = await failure('false | cat');
    assert.deepEqual([piped.kind, piped.detail.line, piped.detail.code], ['exit', 10, 1]);
    const inFunction = await failure('inner() {\n  false\n}\ninner');
    assert.equal(inFunction.detail.line, 11);
    assert.equal((await failure('exit 7')).detail.code, 7);
    const signalled = await failure('kill -SEGV $$');
    assert.deepEqual([signalled.kind, signalled.message], ['exit', 'The process ended by SIGSEGV']);
  });

  it('reports a syntax error and its line', async () => {
    const broken = await failure('echo a\nif true; then\n  echo b\nfi fi');
    assert.deepEqual([broken.kind, broken.detail.line], ['syntax', 13]);
    assert.equal((await failure('echo "a')).kind, 'syntax');
  });

  it('sources lib, whose lines keep their numbers', async () => {
    const lib = { shell: { code: 'greet() {\n  step log "hello $1"\n  [[ $1 != nobody ]]\n}', line: 3 } };
    const { log, failure: none } = await run('greet "$name"', { inputs: { name: literal('Ann') } }, { lib });
    assert.equal(none, null);
    assert.equal(log?.text, 'hello Ann\n');
    const inLib = await failure('greet nobody', {}, { lib });
    assert.deepEqual([inLib.kind, inLib.detail.line], ['exit', 5]);
  });

  it('records its checks; a failed one stops the code, a warning does not', async () => {
    const lib = { shell: { code: 'is_fine() { [[ $1 == fine ]]; }', line: 3 } };
    const end = await run(
      'step check "Lib says so" is_fine fine\nstep check --warn "Odd" grep -q x /dev/null\nstep check "Wrong" is_fine bad\nstep out never 1',
      {},
      { lib },
    );
    assert.deepEqual(
      end.checks.map(({ name, status, message }) => [name, status, message]),
      [
        ['Lib says so', 'passed', null],
        ['Odd', 'warned', 'exit code 1'],
        ['Wrong', 'failed', 'exit code 1'],
      ],
    );
    assert.equal(end.failure?.detail.line, 12);
    const nested = await run('echo a | xargs -I% step check "Nested %" false');
    assert.equal(nested.checks[0]?.name, 'Nested a');
    assert.equal((await failure('step check "No command"')).detail.code, 2);
  });

  it('reports progress and fails with its own message', async () => {
    const { log } = await run('step progress 0.5 half; step log a b; echo out; echo err >&2');
    for (const line of ['progress 50 % half\n', 'a b\n', 'out\n', 'err\n']) assert.ok(log?.text.includes(line), line);
    const failed = await failure('step fail --no-retry "no stock" today\nstep out never 1');
    assert.deepEqual([failed.kind, failed.message, failed.detail.retry], ['exception', 'no stock today', false]);
    assert.deepEqual(await returned('(step fail "not so bad") || step out went on'), { went: 'on' });
  });

  it('returns its prints as a field', async () => {
    const text = { stdout: { field: 'release', as: 'text' as const } };
    assert.deepEqual(await returned('echo /srv/v1', text), { release: '/srv/v1' });
    const json = { stdout: { field: 'n', as: 'json' as const } };
    assert.deepEqual(await returned('echo 3; step out other x', json), { n: 3, other: 'x' });
    const limited = { ...text, limits: { outputBytesMax: 100_000 } };
    assert.equal((await failure('head -c 200000 /dev/zero | tr "\\0" x', limited)).kind, 'limit');
  });

  it('saves its files to the run folder, and later steps get their paths', async () => {
    const folder = RunFolder.create(join(harness.dir, 'files'), 'run_files');
    const code =
      'mkdir deep; echo a,b > deep/r.csv; step file report deep/r.csv; cd deep; step file other r.csv text/x';
    const made = (await returned(code, {}, { folder })) as {
      report: { path: string; media_type: string };
      other: JsonValue;
    };
    assert.equal(made.report.media_type, 'text/csv');
    assert.equal(await readFile(join(folder.dir, made.report.path), 'utf8'), 'a,b\n');
    const inputs = { report: literal(made.report) };
    assert.deepEqual(await returned('step out text "$(cat "$report")"', { inputs }, { folder }), { text: 'a,b' });
    assert.equal((await failure('step file r missing')).kind, 'exit');
    assert.equal((await failure('step file r /etc/hostname')).kind, 'out');
    assert.equal((await failure('ln -s /etc/hostname l; step file r l')).kind, 'out');
  });

  it('is ended with its whole process group at its deadline, and leaves none behind when it ends', async () => {
    const late = await failure('sleep 600 & echo $!; wait', { limits: { timeoutMs: 3_000, timeoutText: '3s' } });
    assert.deepEqual([late.kind, late.message], ['timeout', 'No end within 3s']);
    assert.ok(Number(late.log.trim()) > 0);
    await until('the processes have ended', () => !isRunning(Number(late.log.trim())));
    const { log } = await run('sleep 600 > /dev/null & echo $!\nsetsid sleep 601 > /dev/null 2>&1 3>&- &\necho $!');
    const pids = (log?.text ?? '').trim().split('\n').map(Number);
    assert.equal(pids.length, 2);
    await until('the processes have ended', () => !pids.some(isRunning));
  });

  it('is ended when its processes together use too much memory, or are too many', async () => {
    const hungry = 'python3 -c \'import time; a = b"x" * 150_000_000; time.sleep(600)\' &';
    const memory = await failure(`${hungry}\n${hungry}\nwait`, { limits: { memoryMb: 64 } });
    assert.equal(memory.kind, 'memory', memory.message);
    const many = await failure('for i in $(seq 300); do sleep 600 & done; wait');
    assert.deepEqual([many.kind, many.message], ['limit', 'The step has more than 200 processes']);
  });

  it('does not begin if its worker is killed before the reaper knows its process', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'methods-test-shell-'));
    try {
      for (const name of ['code', 'work']) await mkdir(join(folder, name));
      await writeFile(join(folder, 'code/lib.sh'), '');
      await writeFile(join(folder, 'code/only.sh'), 'echo begun\n');
      const args = ['--noprofile', '--norc', '-euo', 'pipefail', `${RUNNER_DIR}/shell-runner.bash`, 'only', '64'];
      const begin = (known: boolean) => {
        const stdio = ['ignore', 'pipe', 'inherit', 'pipe'] as const;
        const child = spawn('bash', args, { cwd: join(folder, 'work'), stdio: [...stdio] });
        const pipe = child.stdio[3] as Socket;
        if (known) pipe.write('\n');
        else pipe.destroy();
        return Promise.all([text(child.stdout as Readable), once(child, 'exit')]);
      };
      assert.deepEqual(await begin(false), ['', [1, null]]);
      assert.deepEqual(await begin(true), ['begun\n', [0, null]]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('waits for a place in a full pool', async () => {
    const small = await CodeHarness.start({ runnersMax: 1 });
    try {
      const ends = await Promise.all(
        Array.from({ length: 8 }, (_, i) => small.run(shell('step out i "$i"', { inputs: { i: literal(i) } }))),
      );
      assert.deepEqual(
        ends.map(({ returned: value }) => (value as { i: string }).i),
        [...'01234567'],
      );
    } finally {
      await small.stop();
    }
  });
});
