import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CodeLanguage } from '@methods/method/compiled-method';
import type { JsonValue } from '@methods/method/json';
import { until } from '@methods/test/harness/until';
import { CodeHarness, LEAVES_GROUP } from './code-harness.fixture.ts';
import { literal, node } from './hand-built-method.fixture.ts';
import { isolationLevel } from './isolation.ts';
import { RunFolder } from './run-folder.ts';
import { processesOfFolder, readProcessTable } from './runners/process-table.ts';
import type { StepContext } from './step-context.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin';
const isolation = isolationLevel(PATH);
const skip = isolation.level === 'sandbox' ? false : isolation.text;

describe('the isolation level', () => {
  it('is one line, with any reason', async () => {
    assert.match(isolation.text, /^Steps run (in a sandbox|without a sandbox)[^\n]*$/);
    assert.match(isolationLevel('/nowhere').text, /not on PATH/);
    const dir = await mkdtemp(join(tmpdir(), 'isolation-'));
    try {
      await writeFile(join(dir, 'bwrap'), '#!/bin/sh\necho "No permissions to create a namespace" >&2; exit 1', {
        mode: 0o755,
      });
      const broken = isolationLevel(`${dir}:${PATH}`);
      assert.equal(broken.level, 'group');
      assert.match(broken.text, /does not work here: No permissions/);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});

describe('a step in a sandbox', { skip }, () => {
  let harness: CodeHarness;
  let server: Server;
  let port: number;
  const requested: string[] = [];
  before(async () => {
    harness = await CodeHarness.start({ isolation });
    server = createServer((request, response) => {
      requested.push(request.url ?? '');
      response.end('hello');
    }).listen(0, '127.0.0.1');
    await until('the server listens', () => server.listening);
    port = (server.address() as AddressInfo).port;
  });
  after(async () => {
    await harness.stop();
    server.close();
  });

  type Options = Parameters<typeof node>[2];
  const run = (kind: CodeLanguage, code: string, options: Options = {}, more: Partial<StepContext> = {}) =>
    harness.run(node('only', code, { kind, ...options }), more);

  async function returned(kind: CodeLanguage, code: string, options: Options = {}, more: Partial<StepContext> = {}) {
    const end = await run(kind, code, options, more);
    assert.equal(end.failure, null, `${end.failure?.message} ${end.log?.text}`);
    return end.returned as { [name: string]: JsonValue };
  }

  // If the sources are below the home folder, it shows only the path to them.
  const seen: Record<CodeLanguage, string> = {
    node: `import fs from 'node:fs';
      const can = (path) => { try { return fs.readdirSync(path).length > 1 } catch { return false } };
      fs.writeFileSync('mine', 'x');
      return { home: can(home), etc: fs.existsSync('/etc/shadow'), folder: fs.readdirSync(folder), work: fs.readdirSync('.'),
        processes: fs.readdirSync('/proc').filter((it) => /^[0-9]+$/.test(it)).length, writes: (() => { try { fs.writeFileSync('/usr/x', ''); return true } catch { return false } })() }`,
    python: `import os
def can(path):
    try:
        return len(os.listdir(path)) > 1
    except OSError: return False
open("mine", "w").close()
return {"home": can(home), "etc": os.path.exists("/etc/shadow"), "folder": os.listdir(folder), "work": os.listdir("."),
  "processes": len([it for it in os.listdir("/proc") if it.isdigit()]), "writes": os.access("/usr", os.W_OK)}`,
    shell: `touch mine
json() { printf '['; first=; for it in "$@"; do printf '%s"%s"' "$first" "$it"; first=,; done; printf ']'; }
printf '{"home":%s,"etc":%s,"folder":%s,"work":%s,"processes":%s,"writes":%s}' \\
  "$((( $(ls "$home" 2> /dev/null | wc -l) > 1 )) && echo true || echo false)" "$([[ -e /etc/shadow ]] && echo true || echo false)" \\
  "$(json $(ls "$folder"))" "$(json $(ls))" "$(ls -d /proc/[0-9]* | wc -l)" "$(touch /usr/x 2> /dev/null && echo true || echo false)" > seen
step out seen < seen`,
  };

  for (const kind of ['node', 'python', 'shell'] as const) {
    it(`sees of the machine's files and processes only its own (${kind})`, async () => {
      await writeFile(join(harness.dir, 'of-the-worker'), '');
      const out = await returned(kind, seen[kind], {
        inputs: { home: literal(homedir()), folder: literal(harness.dir) },
      });
      const found = kind === 'shell' ? JSON.parse(out.seen as string) : out;
      // The folder above holds only the way to its own place.
      assert.deepEqual([found.home, found.etc, found.writes, found.folder.length], [false, false, false, 1]);
      assert.ok(!found.folder.includes('of-the-worker'));
      assert.ok(found.work.includes('mine'));
      assert.ok(found.processes <= 8, `${found.processes} processes`);
    });
  }

  const fetching: Record<CodeLanguage, string> = {
    node: 'return { text: await (await fetch(`http://127.0.0.1:${port}/node`)).text() }',
    python:
      'import urllib.request\nreturn {"text": urllib.request.urlopen(f"http://127.0.0.1:{port}/python").read().decode()}',
    shell:
      'exec 4<> "/dev/tcp/127.0.0.1/$port"; printf "GET /shell HTTP/1.0\\r\\n\\r\\n" >&4; step out text "$(tail -n 1 <&4)"',
  };
  for (const kind of ['node', 'python', 'shell'] as const) {
    it(`has the network, unless its limits close it (${kind})`, async () => {
      const inputs = { port: literal(port) };
      assert.deepEqual(await returned(kind, fetching[kind], { inputs }), { text: 'hello' });
      const closed = await run(kind, fetching[kind], { inputs, network: false });
      assert.notEqual(closed.failure, null);
      assert.equal(requested.filter((it) => it === `/${kind}`).length, 1);
    });
  }

  it('can call a script of a version manager on PATH that starts a program of its own folder', async () => {
    const tools = await realpath(await mkdtemp(join(homedir(), '.tools-')));
    // Steps of a worker that is root run as other users: the programs they call must be open to them.
    await chmod(tools, 0o755);
    const managed = await CodeHarness.start({ isolation, path: `${tools}/shims:${PATH}` });
    try {
      await mkdir(join(tools, 'shims'));
      await mkdir(join(tools, 'versions'));
      await writeFile(join(tools, 'versions', 'greet'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
      await writeFile(join(tools, 'shims', 'greet'), `#!/bin/sh\nexec '${tools}/versions/greet'\n`, { mode: 0o755 });
      const end = await managed.run(node('only', 'step out said "$(greet)"', { kind: 'shell' }));
      assert.deepEqual([end.failure, end.returned], [null, { said: 'hello' }], end.log?.text);
    } finally {
      await managed.stop();
      await rm(tools, { recursive: true });
    }
  });

  it('keeps its process from step to step, and gets its files read-only', async () => {
    const folder = RunFolder.create(join(harness.dir, 'files'), 'run_files');
    const more = { versionId: 'ver_warm' as const, folder };
    const made = await returned(
      'node',
      "import fs from 'node:fs'; fs.writeFileSync('r', 'data'); globalThis.process.title = 'x'; return { file: step.file('r'), since: performance.timeOrigin }",
      {},
      more,
    );
    const file = made.file as { path: string } & JsonValue;
    const use = node(
      'use',
      `import fs from 'node:fs';
       let wrote = true;
       try { fs.chmodSync(file.path, 0o666); fs.writeFileSync(file.path, 'changed') } catch { wrote = false }
       return { text: fs.readFileSync(file.path, 'utf8'), wrote, since: performance.timeOrigin }`,
      { inputs: { file: literal(file) } },
    );
    const used = await harness.run(use, more);
    assert.equal(used.failure, null, used.failure?.message);
    assert.deepEqual(used.returned, { text: 'data', wrote: false, since: made.since });
    assert.equal(await readFile(join(folder.dir, file.path), 'utf8'), 'data');
    const gone = node('gone', "import fs from 'node:fs'; return fs.readdirSync(step.dir + '/../in')");
    assert.deepEqual((await harness.run(gone, more)).returned, []);
  });

  it('reports how its process ended, and is bounded in memory', async () => {
    const signalled = await run('python', 'import os\nos.kill(os.getpid(), 11)');
    assert.equal(signalled.failure?.message, 'The process ended by SIGSEGV');
    assert.equal((await run('shell', 'exit 7')).failure?.detail.code, 7);
    const heap = await run('node', 'const all = []; for (;;) all.push(new Array(1000).fill({}))', {
      limits: { memoryMb: 48 },
    });
    assert.equal(heap.failure?.kind, 'memory', heap.failure?.message);
    const buffers =
      'const all = []; for (let i = 0; i < 30; i++) all.push(Buffer.alloc(10_000_000, 1)); await new Promise((r) => setTimeout(r, 600_000))';
    const outside = await run('node', buffers, { limits: { memoryMb: 64 } });
    assert.equal(outside.failure?.kind, 'memory', outside.failure?.message);
  });

  it('has its time after SIGTERM, and then all its processes are gone', async () => {
    const code = `import signal, sys, time, urllib.request
def last_word(*_):
    urllib.request.urlopen(f"http://127.0.0.1:{port}/last-word").read()
    sys.exit(0)
signal.signal(signal.SIGTERM, last_word)
time.sleep(600)`;
    const late = await run('python', code, {
      inputs: { port: literal(port) },
      // A busy machine starts it late, and it gets signals only then.
      limits: { timeoutMs: 5_000, timeoutText: '5s' },
    });
    assert.equal(late.failure?.kind, 'timeout');
    await until('the request came', () => requested.includes('/last-word'));
    const { log } = await run('shell', 'setsid sleep 600 > /dev/null 2>&1 3>&- &\necho "$STEP_DIR"');
    const workDir = log?.text.trim() ?? '';
    assert.ok(workDir.startsWith(harness.dir));
    await until('no process of the folder is left', () => processesOfFolder(readProcessTable(), workDir).length === 0);
  });

  it('gets a new process after a step that left one behind', async () => {
    const more = { versionId: 'ver_leaves' as const };
    const since = 'return { since: performance.timeOrigin }';
    const leave = `import { execSync } from 'node:child_process'; execSync(${JSON.stringify(LEAVES_GROUP)});`;
    const first = await returned('node', since, {}, more);
    const leaving = await harness.run(node('leaves', `${leave} ${since}`), more);
    assert.deepEqual(leaving.returned, first);
    assert.notDeepEqual(await returned('node', since, {}, more), first);
  });
});
