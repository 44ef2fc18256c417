// Files are collected while a process changes their folder as fast as it can: many times, since each swap has to hit
// the right moment.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isJsonObject, type JsonValue } from '@methods/method/json';
import { until } from '@methods/test/harness/until';
import { node, out } from './hand-built-method.fixture.ts';
import { RunFolder } from './run-folder.ts';
import { StepFailure } from './step-failure.ts';
import { takeStepFiles } from './step-files.ts';

/** A real folder and a link to the host's take turns at the name `d`; its file is created again each time. */
const SWAP_FOLDER = `import os, sys
os.mkdir("d"); os.symlink(sys.argv[1], "l")
while True:
    with open("d/new", "w") as file: file.write("own")
    os.rename("d/new", "d/f")
    open("up", "w").close()
    os.rename("d", "own"); os.rename("l", "d")
    os.rename("d", "l"); os.rename("own", "d")
`;
/** A real file, a link to the host's and a FIFO take turns at the name `f`. */
const SWAP_FILE = `import os, sys
os.mkdir("d"); os.symlink(sys.argv[1] + "/f", "l"); os.mkfifo("fifo")
while True:
    with open("new", "w") as file: file.write("own")
    os.rename("new", "d/f")
    open("up", "w").close()
    os.link("d/f", "own"); os.rename("l", "d/f"); os.symlink(sys.argv[1] + "/f", "l")
    os.rename("own", "d/f"); os.rename("fifo", "d/f"); os.mkfifo("fifo")
`;

describe('the files of a step', () => {
  let base: string;
  let host: string;
  const processes: ChildProcess[] = [];
  before(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'step-files-')));
    host = join(base, 'host');
    await mkdir(host);
  });
  after(async () => {
    for (const process of processes) process.kill('SIGKILL');
    await rm(base, { recursive: true, force: true });
  });

  for (const [what, script] of [
    ['its folder', SWAP_FOLDER],
    ['the file itself', SWAP_FILE],
  ] as const) {
    it(`are its own or refused while a process swaps ${what} for a link to the host`, async () => {
      await writeFile(join(host, 'f'), 'of the host', { mode: 0o600 });
      const work = join(base, `work-${processes.length}`);
      await mkdir(work);
      processes.push(spawn('python3', ['-c', script, host], { cwd: work, stdio: 'ignore' }));
      await until('the file is there', () => existsSync(join(work, 'up')));
      const step = node('swapped', '', { out: out({ f: { type: 'string' } }, { hasFile: true }) });
      let taken = 0;
      // Until some were collected: a test that only ever met the link would show nothing.
      for (let round = 0; round < 150 || (taken === 0 && round < 5000); round++) {
        const folder = RunFolder.create(join(base, 'runs'), `run_${processes.length}_${round}`);
        const end = await takeStepFiles(step, { f: { $file: 'd/f' } }, work, folder).catch((error: unknown) => error);
        if (end instanceof StepFailure) assert.equal(end.kind, 'out', end.message);
        else {
          taken++;
          const { f } = end as { f: JsonValue };
          assert.ok(isJsonObject(f), String(end));
          assert.equal(await readFile(join(folder.dir, String(f.path)), 'utf8'), 'own');
        }
        await folder.remove();
        assert.equal(await readFile(join(host, 'f'), 'utf8'), 'of the host');
      }
      assert.ok(taken > 0);
      assert.equal((await stat(join(host, 'f'))).mode & 0o777, 0o600);
    });
  }
});
