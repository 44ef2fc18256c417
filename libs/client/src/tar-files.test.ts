import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { tarFiles } from './tar-files.ts';

/** Hands the bytes out in pieces of a size that fits no block. */
async function* pieces(bytes: Buffer, size = 700): AsyncGenerator<Uint8Array> {
  open++;
  try {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  } finally {
    open--;
  }
}

/** Sources that were begun and not ended. */
let open = 0;

test('the files of a tar are listed with their long names, and a damaged one is a typed error', async () => {
  const names = ['a.txt', `${'long/'.repeat(30)}name.txt`, `steps/one/files/${'ü'.repeat(60)}.csv`, 'empty'];
  const folder = mkdtempSync(join(tmpdir(), 'methods-tar-'));
  try {
    for (const name of names) {
      mkdirSync(join(folder, dirname(name)), { recursive: true });
      writeFileSync(join(folder, name), name === 'empty' ? '' : 'x'.repeat(name.length * 20));
    }
    for (const format of ['ustar', 'pax']) {
      // ustar has room for 255 bytes of names only.
      const { stdout, stderr } = spawnSync('tar', ['-c', `--format=${format}`, ...names], { cwd: folder });
      const found = [];
      for await (const file of tarFiles(pieces(stdout))) found.push(file);
      const expected = names.map((path) => ({ path, bytes: path === 'empty' ? 0 : path.length * 20 }));
      const fitting = expected.filter(({ path }) => format === 'pax' || !path.includes('ü'));
      assert.deepEqual(found, fitting, String(stderr));
      const cut = async () => {
        for await (const _ of tarFiles(pieces(stdout.subarray(0, 1_100)))) assert.ok(_.path);
      };
      await assert.rejects(cut(), { name: 'UnexpectedReplyError' });
      assert.equal(open, 0);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
