import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isRunning } from '@methods/base/running-process';
import type { CodeLanguage } from '@methods/method/compiled-method';
import { until } from '@methods/test/harness/until';
import { CodeHarness } from './code-harness.fixture.ts';
import { literal, node } from './hand-built-method.fixture.ts';
import { RunStop } from './run-stop.ts';
import { createMask } from './secrets/mask.ts';
import type { StepContext } from './step-context.ts';

let harness: CodeHarness;
before(async () => {
  harness = await CodeHarness.start();
});
after(() => harness.stop());

type Options = Parameters<typeof node>[2];
const LANGUAGES: readonly CodeLanguage[] = ['node', 'python', 'shell'];
const run = (kind: CodeLanguage, code: string, options: Options = {}, more: Partial<StepContext> = {}) =>
  harness.run(node('only', code, { kind, ...options }), more);

async function returned(kind: CodeLanguage, code: string, options: Options = {}, more: Partial<StepContext> = {}) {
  const end = await run(kind, code, options, more);
  assert.equal(end.failure, null, `${end.failure?.message} ${end.log?.text}`);
  return end.returned;
}

describe('a node step with lib', () => {
  const code = [
    "import { basename } from 'node:path';",
    'let count = 0;',
    'export function add(n) { count += n; return count }',
    'const text = `',
    'function notOne() {}`;',
    'class Money { constructor(n) { this.n = n } }',
    'async function name() { return basename(text + "/a") }',
    'function fails() {',
    "  throw new Error('in lib')",
    '}',
  ].join('\n');
  const more = { lib: { node: { code, line: 3 } }, versionId: 'ver_lib' as const };

  it('calls the functions at the top of lib, made again for each step', async () => {
    const use =
      'return [lib.add(2), lib.add(3), await lib.name(), new lib.Money(1).n, Object.keys(lib).sort().join(), process.pid]';
    const first = (await returned('node', use, {}, more)) as unknown[];
    assert.deepEqual(first.slice(0, 5), [2, 5, 'a', 1, 'Money,add,count,fails,name,text']);
    assert.deepEqual(await returned('node', use, {}, more), first);
  });

  it('names the lines of lib', async () => {
    const failed = await run('node', '\nlib.fails()', {}, { lib: more.lib });
    assert.deepEqual([failed.failure?.message, failed.failure?.detail.line], ['in lib', 11]);
    assert.match(failed.failure?.detail.stack ?? '', /lib:11:[\s\S]*only:11:/);
    const broken = await run('node', 'return 1', {}, { lib: { node: { code: 'let a\nlet a', line: 3 } } });
    assert.deepEqual([broken.failure?.kind, broken.failure?.detail.line], ['syntax', 4]);
  });
});

describe('a code step', () => {
  it('knows its try, and has its values as a file if it reads them (node)', async () => {
    const code =
      "import fs from 'node:fs'; return [step.try, process.env.STEP_TRY, fs.readFileSync(process.env.STEP_IN, 'utf8')]";
    const more = { tryNumber: 2, versionId: 'ver_in' as const };
    assert.deepEqual(await returned('node', code, { inputs: { a: literal([1]) } }, more), [2, '2', '{"a":[1]}']);
    const plain = node('plain', "return Object.keys(process.env).find((name) => name.endsWith('_IN')) ?? null");
    assert.equal((await harness.run(plain, more)).returned, null);
  });

  it('decides whether a failure is retried', async () => {
    const { failure } = await run('node', "step.fail('no stock', { retry: true })");
    assert.equal(failure?.detail.retry, true);
  });

  const printing = {
    node: 'process.stdout.write("[1,")\nconsole.log("2]")',
    python: 'print("[1,", end="")\nprint("2]")',
    shell: 'printf "[1,"\necho "2]"',
  };
  const loud = {
    node: "console.log('x'.repeat(400_000)); return {}",
    python: 'print("x" * 400_000)',
    shell: 'head -c 400000 /dev/zero | tr "\\0" x',
  };
  for (const kind of LANGUAGES) {
    it(`returns its prints as text or JSON (${kind})`, async () => {
      const as = (form: 'text' | 'json') => ({ stdout: { field: 'said', as: form } });
      assert.deepEqual(await returned(kind, printing[kind], as('text')), { said: '[1,2]' });
      assert.deepEqual(await returned(kind, printing[kind], as('json')), { said: [1, 2] });
      const whole = (await returned(kind, loud[kind], { ...as('text'), limits: { outputBytesMax: 1024 * 1024 } })) as {
        said: string;
      };
      assert.equal(whole.said.length, 400_000);
      assert.equal((await run(kind, loud[kind], as('text'))).failure?.kind, 'limit');
    });
  }

  const secret = 's3cr3t/value+"ü';
  const telling = {
    node: `for (const c of process.env.TOKEN) { process.stdout.write(c); await new Promise(setImmediate) }
      console.log('\\n' + encodeURIComponent(process.env.TOKEN) + '\\n' + JSON.stringify(process.env.TOKEN));
      for (const before of ['', 'a', 'ab']) console.log(btoa(unescape(encodeURIComponent(before + process.env.TOKEN + '!!'))));
      step.log('said', { token: process.env.TOKEN })`,
    python: `import base64, json, os, sys, urllib.parse
token = os.environ["TOKEN"]
for c in token: sys.stdout.write(c); sys.stdout.flush()
print("\\n" + urllib.parse.quote(token, safe="") + "\\n" + json.dumps(token, ensure_ascii=False))
for before in ["", "a", "ab"]: print(base64.b64encode((before + token + "!!").encode()).decode())
step.log("said", {"token": token})`,
    shell: `for ((i = 0; i < \${#TOKEN}; i++)); do printf %s "\${TOKEN:i:1}"; done; echo
printf '%s' "$TOKEN" | od -An -tx1 | tr -d ' \\n'; echo
for before in "" a ab; do printf '%s%s!!' "$before" "$TOKEN" | base64 -w 0; echo; done
step log "said $TOKEN"`,
  };
  for (const kind of LANGUAGES) {
    it(`never shows a secret in its log, as it comes or at the end (${kind})`, async () => {
      const secrets = new Map([['TOKEN', secret]]);
      const shown: string[] = [];
      const { log, failure } = await run(
        kind,
        telling[kind],
        { secrets: ['TOKEN'] },
        { secrets, onLog: (text) => shown.push(text) },
      );
      assert.equal(failure, null, failure?.message);
      const mask = createMask(secrets);
      for (const text of [log?.text ?? '', shown.join('')]) {
        assert.equal(mask.finds(text), null, text);
        assert.equal(text.split('***TOKEN***').length - 1, kind === 'shell' ? 6 : 7, text);
      }
    });
  }

  it('is not run with a secret that has changed since the runner began', async () => {
    const more = { versionId: 'ver_secret' as const };
    for (const value of ['first-value', 'second-value']) {
      const secrets = new Map([['TOKEN', value]]);
      assert.equal(
        await returned('node', 'return process.env.TOKEN', { secrets: ['TOKEN'] }, { ...more, secrets }),
        value,
      );
    }
  });

  const hungry = {
    node: 'const all = []; for (let i = 0; i < 40; i++) all.push(Buffer.alloc(10_000_000, 1)); await new Promise((r) => setTimeout(r, 600_000))',
    python: 'import time\nkept = [bytearray(b"x" * 10_000_000) for _ in range(25)]\ntime.sleep(600)',
  };
  for (const kind of ['node', 'python'] as const) {
    it(`fails with kind memory by memory outside of any heap (${kind})`, async () => {
      const { failure } = await run(kind, hungry[kind], { limits: { memoryMb: 64 } });
      assert.deepEqual(
        [failure?.kind, failure?.message],
        ['memory', 'The step used more memory than 64 MiB (limits: memory_mb)'],
      );
    });
  }

  const sleeping = {
    node: "import { spawn } from 'node:child_process'; console.log(spawn('sleep', ['600']).pid); await new Promise(() => {})",
    python: 'import subprocess\np = subprocess.Popen(["sleep", "600"])\nprint(p.pid)\np.wait()',
    shell: 'sleep 600 & echo $!; wait',
  };
  for (const kind of LANGUAGES) {
    it(`is ended with its processes when its run is stopped (${kind})`, async () => {
      const aborted = new AbortController();
      let pid = 0;
      const onLog = (text: string) => {
        pid = Number(text.trim());
        aborted.abort();
      };
      const { failure } = await run(kind, sleeping[kind], {}, { stop: new RunStop(aborted.signal), onLog });
      assert.equal(failure?.message, 'The step was stopped');
      assert.ok(pid > 0);
      await until('the processes have ended', () => !isRunning(pid));
    });
  }

  it('fails with kind dependency if its interpreter is missing', async () => {
    const environment = { nodePath: null, pythonCommand: 'no-such-python', path: '', folders: [] };
    const { failure } = await run('python', 'return 1', {}, { environment });
    assert.equal(failure?.kind, 'dependency');
  });
});
