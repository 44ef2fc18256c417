// Steps that try to make their worker read, move or remove foreign files, with real processes, with and without a
// sandbox. The tests check the disk for what a step leaves.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CodeLanguage } from '@methods/method/compiled-method';
import { isJsonObject } from '@methods/method/json';
import { until } from '@methods/test/harness/until';
import { type CodeEnd, CodeHarness } from './code-harness.fixture.ts';
import { literal, node, out } from './hand-built-method.fixture.ts';
import { isolationLevel, NO_SANDBOX } from './isolation.ts';
import { RunFolder } from './run-folder.ts';
import { processesOfFolder, readProcessTable } from './runners/process-table.ts';

const isolation = isolationLevel('/usr/local/bin:/usr/bin:/bin');
const SECRET = 'of the host';
/** `./swap NAME TARGET [file]`: swaps a folder (or file) of our own and a link to TARGET as fast as it can. */
const SWAP = `#!/usr/bin/env python3
import os, sys
name, target, kind = sys.argv[1:4]
os.symlink(target, "l")
open("up", "w").close()
while True:
    os.rename(name, "own"); os.rename("l", name)
    os.rename(name, "l"); os.rename("own", name)
`;

for (const level of [isolation, NO_SANDBOX]) {
  const skip = level.level === 'sandbox' || level === NO_SANDBOX ? false : level.text;
  describe(`files of a hostile step, ${level === NO_SANDBOX ? 'without a sandbox' : 'in a sandbox'}`, { skip }, () => {
    let harness: CodeHarness;
    let host: string;
    before(async () => {
      harness = await CodeHarness.start({ isolation: level });
      host = join(await realpath(tmpdir()), `host-${process.pid}-${level.level}`);
      await mkdir(host);
    });
    after(async () => {
      await harness.stop();
      await rm(host, { recursive: true });
    });
    const any = out({ f: { type: 'string' } }, { hasFile: true });
    const run = (kind: CodeLanguage, code: string, more = {}, context = {}) =>
      harness.run(node('hostile', code, { kind, out: any, inputs: { host: literal(host) }, ...more }), context);

    /** The host is unchanged, and a taken file is the step's own. */
    async function unharmed(end: CodeEnd, folder: RunFolder): Promise<void> {
      assert.equal(await readFile(join(host, 'f'), 'utf8'), SECRET);
      assert.equal((await stat(join(host, 'f'))).mode & 0o777, 0o600);
      if (end.failure === null) {
        const [file] = isJsonObject(end.returned) ? Object.values(end.returned) : [];
        assert.ok(isJsonObject(file));
        assert.equal(await readFile(join(folder.dir, String(file.path)), 'utf8'), 'own');
      } else assert.ok(['out', 'exit'].includes(end.failure.kind), end.failure.message);
    }

    for (const [what, make, target] of [
      ['a folder for a link', 'mkdir d; printf own > d/f; ./swap d "$host" folder', 'd/f'],
      ['a file for a link', 'printf own > f; ./swap f "$host/f" file', 'f'],
      ['a file for a FIFO', 'printf own > f; mkfifo fifo; python3 -c "$exchange"', 'f'],
    ] as const) {
      it(`is not misled by a process that swaps ${what}`, async () => {
        await writeFile(join(host, 'f'), SECRET, { mode: 0o600 });
        const exchange = `import os
open("up", "w").close()
while True:
    os.rename("f", "own"); os.rename("fifo", "f"); os.rename("f", "fifo"); os.rename("own", "f")`;
        // The second fork and the new session remove it from the step's group and parents.
        const code = `cat > swap << 'END'\n${SWAP}END\nchmod +x swap; exchange='${exchange}'; export exchange host
          (setsid bash -c '${make}' > /dev/null 2>&1 3>&- &)
          until [[ -e up ]]; do :; done; printf '{"t":"out","value":{"f":{"$file":"${target}"}}}\\n' >&3`;
        for (let i = 0; i < 5; i++) {
          const folder = RunFolder.create(join(harness.dir, 'runs'), `run_${what.replaceAll(' ', '')}${i}`);
          await unharmed(await run('shell', code, {}, { folder }), folder);
        }
      });
    }

    it('is not misled by a thread of the runner itself that outlives the step', async () => {
      await writeFile(join(host, 'f'), SECRET, { mode: 0o600 });
      const code = `import { Worker } from 'node:worker_threads'; import fs from 'node:fs';
        fs.mkdirSync('d'); fs.writeFileSync('d/f', 'own'); fs.symlinkSync(host, 'l');
        const loop = 'const fs = require("node:fs"); fs.writeFileSync("up", ""); for (;;) { fs.renameSync("d", "own"); fs.renameSync("l", "d"); fs.renameSync("d", "l"); fs.renameSync("own", "d"); }';
        new Worker(loop, { eval: true }); while (!fs.existsSync('up'));
        step.filesNamed = 1; return { f: { $file: 'd/f' } }`;
      for (let i = 0; i < 3; i++) {
        const folder = RunFolder.create(join(harness.dir, 'runs'), `run_thread${i}`);
        await unharmed(await run('node', code, {}, { folder, versionId: `ver_thread${i}` }), folder);
      }
    });

    it('ends processes of a warm step before it takes the files, and does not trust its report of its children', async () => {
      const folder = RunFolder.create(join(harness.dir, 'runs'), 'run_left');
      // The runner forgets that it started anything.
      const code = `import { spawn, ChildProcess } from 'node:child_process'; import fs from 'node:fs';
        fs.writeFileSync('f', 'own'); console.log(step.dir);
        const child = spawn('sh', ['-c', 'setsid sh -c "echo > up; sleep 600" > /dev/null 2>&1 &'], { detached: true, stdio: 'ignore' });
        child.unref(); while (!fs.existsSync('up'));
        const { writeSync } = fs; const send = (m) => writeSync(3, JSON.stringify(m) + '\\n');
        send({ t: 'end', n: 1, ms: 1, files: true, spawned: false, out: { f: { $file: 'f' } } }); await new Promise(() => {})`;
      const end = await run('node', code, {}, { folder, versionId: 'ver_left' });
      assert.equal(end.failure, null, end.failure?.message);
      const workDir = end.log?.text.trim() ?? '';
      assert.ok(workDir.startsWith(harness.dir));
      const left = processesOfFolder(readProcessTable(), workDir);
      // In a sandbox the runner ends with them; without one it ends after its step.
      assert.ok(left.length <= (level.level === 'sandbox' ? 0 : 1), `${left}`);
      await unharmed(end, folder);
      await until(
        'no process of the folder is left',
        () => processesOfFolder(readProcessTable(), workDir).length === 0,
      );
    });

    it('takes only plain files with one name, within their bound, by names that can be kept', async () => {
      const refused = async (make: string, name: string, more = {}) => {
        const file = `printf '{"t":"out","value":{"f":{"$file":"%s"}}}\\n' '${name}' >&3`;
        return (await run('shell', `${make}; ${file}`, more)).failure;
      };
      await writeFile(join(host, 'open'), SECRET, { mode: 0o644 });
      const cases = [
        ['mkfifo f', 'f', /is not a file/],
        ['ln -s /dev/zero f', 'f', /is not a file/],
        ['mkdir f', 'f', /is not a file/],
        ['echo > a; ln a f', 'f', /second name/],
        ['ln -s "$host" d', 'd/open', /must be in the working folder/],
        ['ln "$host/open" f || ln -s "$host/open" f', 'f', /second name|is not a file/],
        ['python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\'f\')"', 'f', /is not a file/],
        ['true', '../code/hostile.sh', /leads out/],
        ['true', '/etc/hostname', /leads out/],
        ['mkdir a; echo > a/f', 'a//f', /leads out/],
        ['true', 'f', /is not there/],
        ['f=$\'a\\nb\'; echo > "$f"', 'a\\nb', /cannot be kept/],
        [`echo > ${'n'.repeat(255)}`, `${'n'.repeat(256)}`, /must be in|cannot be kept/],
      ] as const;
      for (const [make, name, message] of cases) {
        const failure = await refused(make, name);
        assert.match(`${make}: ${failure?.message ?? 'taken'}`, message);
      }
      const limits = { limits: { filesBytesMax: 100_000 } };
      assert.equal((await refused('truncate -s 1T f', 'f', limits))?.kind, 'limit');
      assert.equal((await refused('truncate -s 100001 f', 'f', limits))?.kind, 'limit');
      assert.equal(await refused('truncate -s 100000 f; chmod 000 f', 'f', limits), null, 'a file without rights too');
    });

    it('bounds a file that grows while it is copied', async () => {
      const code = `import { Worker } from 'node:worker_threads'; import fs from 'node:fs'; fs.writeFileSync('f', 'x');
        const loop = 'const fs = require("node:fs"); const b = Buffer.alloc(65536); for (;;) { try { fs.appendFileSync("f", b); if (fs.statSync("f").size > 8e6) fs.truncateSync("f", 1) } catch {} fs.writeFileSync("up", ""); }';
        new Worker(loop, { eval: true }); while (!fs.existsSync('up'));
        step.filesNamed = 1; return { f: { $file: 'f' } }`;
      const folder = RunFolder.create(join(harness.dir, 'runs'), 'run_grows');
      const limits = { limits: { filesBytesMax: 400_000 } };
      const end = await run('node', code, limits, { folder, versionId: 'ver_grows' });
      if (end.failure !== null) assert.equal(end.failure.kind, 'limit', end.failure.message);
      assert.ok(folder.bytesTotal <= 400_000);
    });

    it('leaves no file on the disk that a step made hard to remove', async () => {
      const code = `python3 - << 'END'
import os
os.mkdir(b"inv\\xff\\xfe"); open(b"inv\\xff\\xfe/\\xff", "w").close(); open(b"a\\nb", "w").close(); open(b"n" * 255, "w").close()
os.symlink(os.environ["host"], "link"); os.mkdir("closed"); open("closed/f", "w").close(); os.chmod("closed", 0)
os.mkdir("wide")
for i in range(600): os.mkdir(f"wide/{i}")
top = os.getcwd()
for i in range(60):
    os.mkdir("d" * 200); os.chdir("d" * 200)
END
echo "$STEP_DIR"`;
      const end = await run('shell', code, { out: null });
      assert.equal(end.failure, null, `${end.failure?.message} ${end.log?.text}`);
      const workDir = end.log?.text.trim() ?? '';
      assert.ok(workDir.startsWith(harness.dir));
      await until('the folder is gone', () => !existsSync(dirname(workDir)));
      assert.equal(await readFile(join(host, 'f'), 'utf8'), SECRET);
    });

    it('returns no more files than a run folder may have', async () => {
      const names = 'Array.from({ length: 10_001 }, (_, i) => String(i))';
      const code = `import fs from 'node:fs'; step.filesNamed = 1; return { all: ${names}.map((name) => ({ $file: name })) }`;
      const end = await run('node', code);
      assert.match(end.failure?.message ?? 'taken', /more than 10000 files/);
    });

    it('is given no file because a text looks like its path', async () => {
      await writeFile(join(host, 'f'), SECRET, { mode: 0o600 });
      await chmod(host, 0o755);
      const folder = RunFolder.create(join(harness.dir, 'runs'), 'run_forged');
      const own = await folder.write(
        'earlier',
        'f',
        [Buffer.from('own')] as unknown as AsyncIterable<Uint8Array>,
        'text/plain',
      );
      const forged = `${folder.dir}/../../../${host.split('/').at(-1)}/f`;
      const code = "import fs from 'node:fs'; return { in: fs.readdirSync(step.dir + '/../in').length }";
      const end = await run(
        'node',
        code,
        { out: null, inputs: { forged: literal(forged), own: literal(own) } },
        { folder },
      );
      if (level.level === 'sandbox') assert.deepEqual(end.returned, { in: 1 });
      const led = { ...own, path: 'steps/../../../f' };
      const inputs = { led: literal(led) };
      const data = await run('node', 'return { path: led.path }', { out: null, inputs }, { folder });
      assert.deepEqual(data.returned, { path: led.path }, 'a path that the worker did not make is data');
    });
  });
}
