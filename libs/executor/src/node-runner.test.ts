import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isRunning } from '@methods/base/running-process';
import type { JsonValue } from '@methods/method/json';
import { until } from '@methods/test/harness/until';
import { expression, literal, method, node, out, path } from './hand-built-method.fixture.ts';
import { RunFolder } from './run-folder.ts';
import { RunHarness } from './run-harness.fixture.ts';
import type { StepEnd } from './run-outcome.ts';

const any = { value: {} };
let harness: RunHarness;
before(async () => {
  harness = await RunHarness.start();
});
after(() => harness.stop());

/** Runs one step with the code; its `out` is `{ value }`. */
function runCode(code: string, options: Parameters<typeof node>[2] = {}, run = {}): Promise<StepEnd> {
  return harness.last(method([node('only', code, { out: out(any), ...options })]), run);
}

describe('a node step', () => {
  it('gets its values as data and returns its out', async () => {
    const value = { text: '`${x}` "quoted" \u2028 </script>', list: [1, null, { deep: true }] };
    const record = await runCode('return { value: { back: given, year: 2000 + n } }', {
      inputs: { given: literal(value), n: literal(26) },
    });
    assert.deepEqual(record.error, null);
    assert.deepEqual(record.out, { value: { back: value, year: 2026 } });
    assert.equal(record.outJson, JSON.stringify(record.out));
  });

  it('sees its name, its key, its folder and only the environment of a step', async () => {
    const record = await runCode(
      `return { value: { name: step.name, key: step.key, try: step.try, cwd: process.cwd() === step.dir,
        env: Object.keys(process.env).sort(), tz: process.env.TZ } }`,
      {},
      { runId: 'run_abc' },
    );
    const key = createHash('sha256').update('run_abc/only').digest('hex').slice(0, 32);
    assert.deepEqual(record.out, {
      value: {
        name: 'only',
        key,
        try: 1,
        cwd: true,
        env: ['HOME', 'LANG', 'PATH', 'STEP_DIR', 'STEP_KEY', 'STEP_NAME', 'STEP_TRY', 'TMPDIR', 'TZ'],
        tz: 'UTC',
      },
    });
  });

  it('gets the secrets it declares and no others', async () => {
    const first = node('first', 'return { value: [typeof process.env.TOKEN_A, process.env.TOKEN_B] }', {
      secrets: ['TOKEN_A'],
      out: out(any),
    });
    const second = node('second', 'return { value: [process.env.TOKEN_A, typeof process.env.TOKEN_B] }', {
      secrets: ['TOKEN_B'],
      out: out(any),
    });
    const secrets = new Map([
      ['TOKEN_A', 'aaaaaaaa'],
      ['TOKEN_B', 'bbbbbbbb'],
    ]);
    const outcome = await harness.run(
      method([first, second], { a: path('steps', 'first', 'value'), b: path('steps', 'second', 'value') }),
      { secrets },
    );
    assert.deepEqual(outcome.status === 'succeeded' && outcome.result, { a: ['string', null], b: [null, 'string'] });
  });

  it('may import modules by static lines and by calls, and keeps the lines of the source', async () => {
    const code = [
      "import { createHash } from 'node:crypto';",
      'import {',
      '  basename,',
      "} from 'node:path'; const base = basename('/a/b');",
      'const text = `',
      'import nothing from "nowhere"',
      '`;',
      "const { EOL } = await import('node:os');",
      "import fs from 'node:fs'",
      'const url = typeof import.meta.url;',
      "throw new TypeError([base, EOL, text.length, typeof createHash, typeof fs.readFileSync, url].join('|'))",
    ].join('\n');
    const { error } = await runCode(code);
    assert.equal(error?.kind, 'exception');
    assert.equal(error?.message, 'TypeError: b|\n|31|function|function|string');
    assert.equal(error?.line, 20);
    assert.match(error?.stack ?? '', /only:20:/);
  });

  it('names the line of a syntax error in the source', async () => {
    const { error } = await runCode('const a = 1;\nconst b = ;\nreturn {}');
    assert.equal(error?.kind, 'syntax');
    assert.equal(error?.line, 11);
  });

  it('names a module that cannot be imported', async () => {
    const { error } = await runCode("import { nothing } from 'node:fs';\nreturn {}");
    assert.equal(error?.kind, 'syntax');
    assert.match(error?.message ?? '', /nothing/);
  });

  it('finds nothing of the step before in its folder, environment or current folder', async () => {
    const dirty = node(
      'dirty',
      `import fs from 'node:fs';
      fs.mkdirSync('sub'); fs.writeFileSync('sub/a', 'x'); fs.writeFileSync('b', 'x');
      process.chdir('/'); process.env.LEFT = '1'; process.env.TZ = 'Asia/Tokyo'; delete process.env.LANG;`,
    );
    const clean = node(
      'clean',
      `import fs from 'node:fs';
      return { value: [process.pid, fs.readdirSync('.'), process.cwd() === step.dir, process.env.LEFT ?? null,
        process.env.TZ, process.env.LANG] }`,
      { out: out(any) },
    );
    const pid = node('pid', 'return { value: process.pid }', { out: out(any) });
    const record = await harness.last(method([pid, dirty, clean]));
    const pidOut = harness.records[0]?.out;
    const value = (record.out as { value: unknown[] }).value;
    assert.deepEqual(value.slice(1), [[], true, null, 'UTC', 'C.UTF-8']);
    assert.deepEqual(pidOut, { value: value[0] }, 'the same warm process ran all three');
  });

  it('has a folder even after the step before removed it', async () => {
    const remove = node('remove', "(await import('node:fs')).rmSync(step.dir, { recursive: true })");
    const write = node(
      'write',
      "(await import('node:fs')).writeFileSync('a', 'x'); return { value: process.cwd() === step.dir }",
      {
        out: out(any),
      },
    );
    assert.deepEqual((await harness.last(method([remove, write]))).out, { value: true });
  });

  it('logs its prints and its logs, in the order of each source', async () => {
    const { log } = await runCode(
      `console.log('to stdout'); console.error('to stderr'); step.log('said', { n: 1 }); step.progress(0.5, 'half');
       require_ = (await import('node:child_process')).execSync; require_('echo from a child >&2', { stdio: 'inherit' });
       return { value: 1 }`.replace('require_ =', 'const require_ ='),
    );
    for (const line of ['to stdout\n', 'to stderr\n', 'said {"n":1}\n', 'progress 50 % half\n', 'from a child\n']) {
      assert.ok(log?.text.includes(line), `${line} in ${log?.text}`);
    }
    assert.equal(log?.cut, false);
  });

  it('keeps the end of a log that exceeds its bound', async () => {
    const { log, status } = await runCode(
      "for (let i = 0; i < 20000; i++) console.log('line', i, 'ä'.repeat(20)); return { value: 1 }",
      { limits: { logBytesMax: 2048 } },
    );
    assert.equal(status, 'succeeded');
    assert.equal(log?.cut, true);
    assert.ok(Buffer.byteLength(log?.text ?? '') <= 2048);
    assert.ok(log?.text.endsWith(`line 19999 ${'ä'.repeat(20)}\n`));
    assert.ok((log?.bytes ?? 0) > 1_000_000);
  });

  it('records its checks, and fails with kind check once its code has ended', async () => {
    const record = await runCode(`
      step.check('Fine', true);
      step.check('Odd', 0, { level: 'warn', actual: 3 });
      const { check } = step;
      if (check('Wrong', false, { message: 'not today', actual: { a: 1 } }) === false) step.log('went on');
      return { value: 1 }`);
    assert.deepEqual(record.checks, [
      { name: 'Fine', phase: 'code', status: 'passed', message: null, actual: null },
      { name: 'Odd', phase: 'code', status: 'warned', message: null, actual: 3 },
      { name: 'Wrong', phase: 'code', status: 'failed', message: 'not today', actual: { a: 1 } },
    ]);
    assert.equal(record.error?.kind, 'check');
    assert.equal(record.error?.message, 'Check failed: Wrong (not today)');
    assert.ok(record.log?.text.includes('went on'));
  });

  it('fails by step.fail, by a thrown value of any kind, and by code that it does not await', async () => {
    assert.equal((await runCode("step.fail('no stock')")).error?.message, 'no stock');
    assert.equal((await runCode("throw 'a text'")).error?.message, 'a text');
    assert.equal((await runCode('throw null')).error?.message, 'null');
    assert.equal((await runCode('throw { get message() { throw 1 } }')).error?.kind, 'exception');
    const outside = await runCode("setTimeout(() => { throw new Error('late') }, 1); await new Promise(() => {})");
    assert.deepEqual([outside.error?.kind, outside.error?.message], ['exception', 'late']);
    const rejected = await runCode("Promise.reject(new Error('not awaited')); await new Promise(() => {})");
    assert.deepEqual([rejected.error?.kind, rejected.error?.message], ['exception', 'not awaited']);
  });

  it('fails with kind exit when its process ends', async () => {
    const left = await runCode("console.log('bye'); process.exit(3)");
    assert.deepEqual([left.error?.kind, left.error?.message], ['exit', 'The step ended its process with exit code 3']);
    assert.ok(left.log?.text.includes('bye'));
    const signalled = await runCode("process.kill(process.pid, 'SIGSEGV'); await new Promise(() => {})");
    assert.deepEqual([signalled.error?.kind, signalled.error?.message], ['exit', 'The process ended by SIGSEGV']);
  });

  it('fails with kind memory when its heap is full', async () => {
    const { error } = await runCode('const all = []; for (;;) all.push(new Array(1000).fill({}));', {
      limits: { memoryMb: 48 },
    });
    assert.equal(error?.kind, 'memory');
  });

  it('fails with kind timeout, and its process group is gone', async () => {
    const { error, log } = await runCode(
      `import { spawn } from 'node:child_process';
       const child = spawn('sleep', ['600']); console.log(child.pid);
       setTimeout(() => { for (;;) {} }, 2_800); await new Promise(() => {})`,
      // Time for a busy machine to get as far as the loop.
      { limits: { timeoutMs: 3_000, timeoutText: '3s' } },
    );
    assert.deepEqual([error?.kind, error?.message], ['timeout', 'No end within 3s']);
    const pid = Number(log?.text.trim());
    assert.ok(pid > 0);
    await until('the processes have ended', () => !isRunning(pid));
  });

  it('fails with kind out for invalid JSON, missing or wrong fields, and drops undeclared fields', async () => {
    assert.equal((await runCode('return { value: 1n }')).error?.kind, 'out');
    assert.equal((await runCode('const a = {}; a.a = a; return a')).error?.kind, 'out');
    const missing = await runCode('return { other: 1 }');
    assert.equal(missing.error?.kind, 'out');
    assert.match(missing.error?.message ?? '', /not declared: other/);
    assert.equal((await runCode('return 7')).error?.kind, 'out');
    const number = { out: out({ value: { type: 'number' } }) };
    assert.equal((await runCode("return { value: 'x' }", number)).error?.kind, 'out');
    const dropped = await runCode('return { value: 1, raw: 2 }', number);
    assert.deepEqual([dropped.out, dropped.dropped], [{ value: 1 }, ['raw']]);
  });

  it('fails with kind limit for an out above its bound', async () => {
    const limits = { outputBytesMax: 1024 };
    const one = await runCode("return { value: 'ä'.repeat(600) }", { limits });
    assert.equal(one.error?.kind, 'limit');
    assert.equal((await runCode("return { value: 'x'.repeat(6_000_000) }")).error?.kind, 'limit');
    assert.equal((await runCode("return { value: 'x'.repeat(900) }", { limits })).status, 'succeeded');
    assert.equal((await runCode("step.log('x'.repeat(20_000_000)); return { value: 1 }")).error?.kind, 'limit');
  });

  it('saves its files to the run folder, and later steps read them by path', async () => {
    const make = node(
      'make',
      `import fs from 'node:fs';
       fs.mkdirSync('deep'); fs.writeFileSync('deep/report.csv', 'a,b');
       return { value: [step.file('deep/report.csv'), step.file(step.dir + '/deep/report.csv', 'text/x')] }`,
      { out: out(any, { hasFile: true }) },
    );
    const firstFile = expression((scope) => (scope.steps.make as { value: JsonValue[] }).value[0] ?? null);
    const read = node('read', "import fs from 'node:fs'; return { value: fs.readFileSync(file.path, 'utf8') }", {
      inputs: { file: firstFile },
      out: out(any),
    });
    const folder = RunFolder.create(join(harness.dir, 'files'), 'run_files');
    const record = await harness.last(method([make, read]), { folder });
    assert.deepEqual(record.out, { value: 'a,b' });
    const sha256 = createHash('sha256').update('a,b').digest('hex');
    const file = {
      path: 'steps/make/files/deep/report.csv',
      bytes: 3,
      sha256,
      media_type: 'text/csv',
      name: 'report.csv',
    };
    assert.deepEqual(harness.records[0]?.out, { value: [file, file] });
    assert.equal(await readFile(join(folder.dir, file.path), 'utf8'), 'a,b');
    assert.equal((await stat(join(folder.dir, file.path))).mode & 0o222, 0);

    const other = RunFolder.create(join(harness.dir, 'elsewhere'), 'run_files');
    await other.restore(folder.archive());
    assert.equal(await readFile(join(other.dir, file.path), 'utf8'), 'a,b');
    await folder.remove();
    await assert.rejects(stat(folder.dir), { code: 'ENOENT' });
  });

  it('cannot give away a file from outside its folder, a link, or more than its bound', async () => {
    const files = { out: out(any, { hasFile: true }) };
    const failure = async (code: string, more = {}) => {
      const { error } = await runCode(`import fs from 'node:fs'; ${code}`, { ...files, ...more });
      return error?.kind;
    };
    assert.equal(await failure("return { value: step.file('/etc/hostname') }"), 'out');
    assert.equal(await failure("return { value: step.file('../code/only.mjs') }"), 'out');
    assert.equal(await failure("fs.symlinkSync('/etc/hostname', 'l'); return { value: step.file('l') }"), 'out');
    assert.equal(await failure("fs.symlinkSync('/etc', 'd'); return { value: step.file('d/hostname') }"), 'out');
    assert.equal(await failure("fs.mkdirSync('d'); return { value: step.file('d') }"), 'out');
    assert.equal(await failure("return { value: step.file('missing') }"), 'out');
    assert.equal(await failure("fs.writeFileSync('dot.', ''); return { value: step.file('dot.') }"), 'out');
    const replaced =
      "fs.writeFileSync('a', ''); const f = step.file('a'); fs.rmSync('a'); fs.symlinkSync('/etc/hostname', 'a');";
    assert.equal(await failure(`${replaced} return { value: f }`), 'out');
    const forged = "fs.writeFileSync('a', ''); step.file('a'); return { value: { $file: '../code/only.mjs' } }";
    assert.equal(await failure(forged), 'out');
    const large = "fs.writeFileSync('a', 'x'.repeat(2000)); return { value: step.file('a') }";
    assert.equal(await failure(large, { limits: { filesBytesMax: 1000 } }), 'limit');
  });
});
