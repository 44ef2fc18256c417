import { deepEqual, equal, match } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { CliFolder, METHODS } from '../cli.fixture.ts';

let folder: CliFolder;
before(async () => {
  folder = await CliFolder.make();
});
after(() => folder.remove());

/** `line` of a shell in the folder; `$methods` is the command. */
async function shell(line: string): Promise<{ code: number; stderr: string }> {
  const methods = `'${process.execPath}' '${METHODS}'`;
  const child = spawn('sh', ['-c', line.replaceAll('$methods', methods)], {
    cwd: folder.dir,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit') as Promise<[number]>;
  const stderr = await text(child.stderr);
  return { code: (await ended)[0], stderr };
}

test('output to a full disk is an error with a sentence', { skip: process.platform !== 'linux' }, async () => {
  const { code, stderr } = await shell('$methods completion bash > /dev/full');
  equal(code, 1);
  match(stderr, /^error: the output cannot be written: the disk is full\nhint: /);
});

test('a file that could not take all of the output is an error', { skip: process.platform === 'win32' }, async () => {
  // The built code is complete before files are limited.
  equal((await shell('$methods completion bash > whole')).code, 0);
  const { code, stderr } = await shell('ulimit -f 2; $methods completion bash > cut');
  deepEqual([code, /^error: the output cannot be written: /.test(stderr)], [1, true]);
  const [whole, cut] = [await folder.read('whole'), await folder.read('cut')];
  equal(whole.startsWith(cut) && cut.length > 0 && cut.length < whole.length, true);
});
