// Packs the library as npm installs it.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from './build-package.ts';

const run = promisify(execFile);

/** Returns the path of the tarball. */
export async function pack(destination: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'methods-client-package-'));
  try {
    await buildPackage(folder);
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', destination], { cwd: folder });
    return join(destination, stdout.trim().split('\n').at(-1) ?? '');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
