import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isRunning } from '@methods/base/running-process';
import type { JsonValue } from '@methods/method/json';
import { until } from '@methods/test/harness/until';
import { CodeHarness, LEAVES_GROUP } from './code-harness.fixture.ts';
import { literal, node } from './hand-built-method.fixture.ts';
import { RunFolder } from './run-folder.ts';
import type { StepContext } from './step-context.ts';

let harness: CodeHarness;
before(async () => {
  harness = await CodeHarness.start();
});
after(() => harness.stop());

const python = (code: string, options: Parameters<typeof node>[2] = {}) =>
  node('only', code, { kind: 'python', ...options });

async function run(code: string, options: Parameters<typeof node>[2] = {}, more: Partial<StepContext> = {}) {
  return harness.run(python(code, options), more);
}

async function returned(code: string, options: Parameters<typeof node>[2] = {}, more: Partial<StepContext> = {}) {
  const end = await run(code, options, more);
  assert.equal(end.failure, null, end.failure?.message);
  return end.returned;
}

async function failure(code: string, options: Parameters<typeof node>[2] = {}, more: Partial<StepContext> = {}) {
  const { failure: failed } = await run(code, options, more);
  return { kind: failed?.kind, message: failed?.message ?? '', line: failed?.detail.line, detail: failed?.detail };
}

describe('a python step', () => {
  it('gets its values as data, reads fields as attributes, and returns its out', async () => {
    const value = { text: '"""x""" \\ {0} \u2028', list: [1, null, { deep: true }] };
    const out = await returned(
      'return {"back": given, "year": 2000 + n, "deep": given.list[2].deep, "same": given["text"]}',
      {
        inputs: { given: literal(value), n: literal(26) },
      },
    );
    assert.deepEqual(out, { back: value, year: 2026, deep: true, same: value.text });
  });

  it('sees its name, key, try and folder, and only the environment of a step', async () => {
    const out = await returned(
      `import os
return {"step": [step.name, step.key, step.try_, os.getcwd() == step.dir], "env": sorted(os.environ), "tz": os.environ["TZ"], "in": open(os.environ["STEP_IN"]).read()}`,
      { inputs: { a: literal('b') } },
      { runId: 'run_abc', path: 'loop[2]/only', tryNumber: 3 },
    );
    const key = createHash('sha256').update('run_abc/loop[2]/only').digest('hex').slice(0, 32);
    const names = ['HOME', 'LANG', 'PATH', 'STEP_DIR', 'STEP_IN', 'STEP_KEY', 'STEP_NAME', 'STEP_TRY', 'TMPDIR', 'TZ'];
    assert.deepEqual(out, { step: ['only', key, 3, true], env: names, tz: 'UTC', in: '{"a":"b"}' });
  });

  it('gets the secrets it declares', async () => {
    const out = await returned(
      'import os\nreturn os.environ.get("TOKEN_A"), os.environ.get("TOKEN_B")',
      {
        secrets: ['TOKEN_A'],
      },
      {
        secrets: new Map([
          ['TOKEN_A', 'aaaaaaaa'],
          ['TOKEN_B', 'bbbbbbbb'],
        ]),
      },
    );
    assert.deepEqual(out, ['aaaaaaaa', null]);
  });

  it('calls lib, whose variables are reset in each step', async () => {
    const lib = {
      python: {
        code: 'import json\ncount = 0\ndef add(n):\n    global count\n    count += n\n    return count',
        line: 3,
      },
    };
    const more = { lib, versionId: 'ver_lib' as const };
    const code = 'import os\nfrom lib import add\nreturn [lib.add(2), add(3), lib.count, os.getpid()]';
    const first = (await returned(code, {}, more)) as JsonValue[];
    assert.deepEqual(first.slice(0, 3), [2, 5, 5]);
    assert.deepEqual(await returned(code, {}, more), first);
  });

  it('names the lines of the source for errors, in the step and in lib', async () => {
    const raised = await failure('a = 1\ndef inner():\n    raise ValueError("no " + str(a))\n\ninner()');
    assert.deepEqual([raised.kind, raised.message, raised.line], ['exception', 'ValueError: no 1', 12]);
    assert.equal(raised.detail?.stack, 'only:12 in inner\nonly:14 in the step');
    const lib = { python: { code: 'def broken():\n    return {}["x"]', line: 3 } };
    const inLib = await failure('\nreturn lib.broken()', {}, { lib });
    assert.deepEqual([inLib.message, inLib.line], ["KeyError: no entry 'x'", 4]);
    assert.equal(inLib.detail?.stack, 'lib:4 in broken\nonly:11 in the step');
    const syntax = await failure('a = 1\nif a\n  b = 2');
    assert.deepEqual([syntax.kind, syntax.line], ['syntax', 11]);
    const late = await failure('x = 1\nfor a in []:\n    pass\nbreak');
    assert.deepEqual([late.kind, late.line], ['syntax', 13]);
    assert.equal((await failure('compile("a b", "x", "exec")')).kind, 'exception');
  });

  it('refuses values that are not JSON with their place', async () => {
    const message = async (expression: string) => {
      const { kind, message: said } = await failure(`import datetime, decimal\nreturn ${expression}`);
      assert.equal(kind, 'out', said);
      return said;
    };
    assert.match(await message('{"rows": [{"share": float("nan")}]}'), /^out\.rows\[0\]\.share is nan/);
    assert.match(await message('{"a": float("-inf")}'), /^out\.a is -inf/);
    assert.match(await message('{"day": datetime.date(2026, 1, 2)}'), /out\.day is a datetime\.date.*isoformat/);
    assert.match(await message('{"sum": decimal.Decimal("1.10")}'), /decimal\.Decimal.*float/);
    assert.match(await message('{"ids": {1, 2}}'), /out\.ids is a set/);
    assert.match(await message('{"big": 2**53}'), /out\.big is an integer beyond 2\^53/);
    assert.match(await message('{"data": b"x"}'), /out\.data is a bytes/);
    assert.match(await message('{"t": "\\ud800"}'), /surrogate/);
    assert.match(await message('{(1, 2): 3}'), /a key that is no text/);
    assert.equal((await failure('a = {}\na["a"] = a\nreturn a')).kind, 'out');
    assert.equal((await failure('return {"a": "x" * 6_000_000}')).kind, 'limit');
    assert.deepEqual(await returned('return {"id": "12345678901234567890", "f": 1.5e300}'), {
      id: '12345678901234567890',
      f: 1.5e300,
    });
  });

  it('records its checks and logs its prints and its logs', async () => {
    const {
      checks,
      log,
      failure: failed,
    } = await run(`import subprocess, sys
step.check("Fine", [1])
step.check("Odd", 0, level="warn", actual=3)
if step.check("Wrong", False, message="not today", actual={"a": 1}) is False: step.log("went on")
print("to stdout"); print("to stderr ä", file=sys.stderr); step.log("said", {"n": 1}); step.progress(0.5, "half")
subprocess.run(["echo", "from a child"])`);
    assert.equal(failed, null);
    assert.deepEqual(checks, [
      { name: 'Fine', phase: 'code', status: 'passed', message: null, actual: null },
      { name: 'Odd', phase: 'code', status: 'warned', message: null, actual: 3 },
      { name: 'Wrong', phase: 'code', status: 'failed', message: 'not today', actual: { a: 1 } },
    ]);
    for (const line of ['to stdout\n', 'to stderr ä\n', 'said {"n":1}\n', 'progress 50 % half\n', 'from a child\n']) {
      assert.ok(log?.text.includes(line), `${line} in ${log?.text}`);
    }
  });

  it('may await, and returns its prints as a field if declared', async () => {
    assert.deepEqual(await returned('import asyncio\nawait asyncio.sleep(0)\nreturn {"a": 1}'), { a: 1 });
    const text = { stdout: { field: 'said', as: 'text' as const } };
    assert.deepEqual(await returned('print("a")\nprint("b", end="\\n\\n")\nreturn {"n": 1}', text), {
      said: 'a\nb',
      n: 1,
    });
    const json = { stdout: { field: 'said', as: 'json' as const } };
    assert.deepEqual(await returned('print("[1, 2]")', json), { said: [1, 2] });
    assert.equal((await failure('print("nothing")', json)).kind, 'out');
    assert.equal((await failure('print("x" * 3000)', { ...text, limits: { outputBytesMax: 2048 } })).kind, 'limit');
  });

  it('fails by step.fail, an exit, a death and a deadline', async () => {
    const failed = await failure('step.fail("no stock", retry=False)');
    assert.deepEqual(
      [failed.kind, failed.message, failed.line, failed.detail?.retry],
      ['exception', 'no stock', 10, false],
    );
    const left = await failure('import sys\nsys.exit(3)');
    assert.deepEqual([left.kind, left.detail?.code, left.line], ['exit', 3, 11]);
    assert.equal((await failure('import os\nos._exit(4)')).detail?.code, 4);
    const killed = await failure('import os\nos.kill(os.getpid(), 11)');
    assert.deepEqual([killed.kind, killed.message], ['exit', 'The process ended by SIGSEGV']);
    const { failure: late, log } = await run(
      'import subprocess, time\nprint(subprocess.Popen(["sleep", "600"]).pid)\ntime.sleep(2.8)\nwhile True: pass',
      // Time for a busy machine to get as far as the loop.
      { limits: { timeoutMs: 3_000, timeoutText: '3s' } },
    );
    assert.deepEqual([late?.kind, late?.message], ['timeout', 'No end within 3s']);
    const pid = Number(log?.text.trim());
    assert.ok(pid > 0);
    await until('the processes have ended', () => !isRunning(pid));
  });

  it('fails with kind memory and its line where it asks for too much at once', async () => {
    const { kind, line } = await failure('a = 1\nb = "x" * 2_000_000_000', { limits: { memoryMb: 64 } });
    assert.deepEqual([kind, line], ['memory', 11]);
  });

  it('finds nothing of the step before', async () => {
    const more = { versionId: 'ver_dirty' as const };
    const dirty = `import os, sys, random, logging, decimal, warnings, signal, socket
os.mkdir("sub"); open("sub/a", "w").close(); open("b", "w").close(); os.chmod("sub", 0)
os.chdir("/"); os.environ["LEFT"] = "1"; os.environ["TZ"] = "Asia/Tokyo"; del os.environ["LANG"]; os.umask(0o077)
sys.path.append("/left"); sys.stdout = None; random.seed(1); decimal.getcontext().prec = 2
logging.basicConfig(level=10); warnings.simplefilter("ignore"); signal.signal(signal.SIGTERM, signal.SIG_IGN)
socket.setdefaulttimeout(1); sys.setrecursionlimit(99999)
global left
left = 1`;
    const clean = `import os, sys, random, logging, decimal, warnings, signal, socket
random_left = random.random() == random.Random(1).random()
umask = os.umask(0o022)
os.umask(umask)
print("heard")
return {"folder": os.listdir("."), "cwd": os.getcwd() == step.dir, "env": [os.environ.get("LEFT"), os.environ["TZ"], os.environ["LANG"]],
  "path": "/left" in sys.path, "random": random_left, "prec": decimal.getcontext().prec, "handlers": len(logging.root.handlers),
  "umask": umask, "term": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "global": "left" in globals(), "timeout": socket.getdefaulttimeout(), "deep": sys.getrecursionlimit(), "pid": os.getpid()}`;
    const firstPid = ((await returned('import os\nreturn {"pid": os.getpid()}', {}, more)) as { pid: number }).pid;
    await returned(dirty, {}, more);
    const { returned: found, log } = await harness.run(node('clean', clean, { kind: 'python' }), more);
    assert.equal(log?.text, 'heard\n');
    assert.deepEqual(found, {
      folder: [],
      cwd: true,
      env: [null, 'UTC', 'C.UTF-8'],
      path: false,
      random: false,
      prec: 28,
      handlers: 0,
      umask: 0o022,
      term: true,
      global: false,
      timeout: null,
      deep: 1000,
      pid: firstPid,
    });
  });

  for (const [what, code] of Object.entries({
    'a thread': 'import threading, time\nthreading.Thread(target=lambda: time.sleep(600), daemon=True).start()',
    'a child process': 'import subprocess\nsubprocess.Popen(["sleep", "600"])',
    'a process that left its group': `import subprocess\nsubprocess.run(["sh", "-c", ${JSON.stringify(LEAVES_GROUP)}])`,
    'a changed built-in': 'import builtins\nglobals()["__builtins__"]["len"] = None',
    'a changed module': 'import json\njson.dumps = None',
    'a module changed by setattr': 'import json as j\nsetattr(j, "dumps", None)',
  })) {
    it(`gets a new process after a step that left ${what}`, async () => {
      const more = { versionId: `ver_${what}` as const };
      const pidOf = async (name: string, body: string) => {
        const end = await harness.run(node(name, `import os\n${body}\nreturn os.getpid()`, { kind: 'python' }), more);
        assert.equal(end.failure, null, end.failure?.message);
        return Number(end.returned);
      };
      const first = await pidOf('first', '');
      assert.equal(await pidOf('leaves', code), first);
      assert.notEqual(await pidOf('first', ''), first);
      await until('the processes have ended', () => !isRunning(first));
    });
  }

  it('saves its files to the run folder, and later steps read them by path', async () => {
    const folder = RunFolder.create(join(harness.dir, 'files'), 'run_files');
    const make = python(
      'open("r.csv", "w").write("a,b")\nreturn {"file": step.file("r.csv"), "other": step.file(step.dir + "/r.csv")}',
    );
    const made = await harness.run(make, { folder, path: 'make[1]' });
    assert.equal(made.failure, null, made.failure?.message);
    const { file } = made.returned as { file: { path: string } };
    assert.equal(await readFile(join(folder.dir, file.path), 'utf8'), 'a,b');
    const text = await returned(
      'return open(file.path).read()',
      { inputs: { file: literal(file as unknown as JsonValue) } },
      { folder },
    );
    assert.equal(text, 'a,b');
    for (const path of ['/etc/hostname', '../code', 'missing', 'link']) {
      const { kind } = await failure(
        `import os\nos.symlink("/etc/hostname", "link")\nreturn {"f": step.file("${path}")}`,
      );
      assert.equal(kind, 'out', path);
    }
  });
});
