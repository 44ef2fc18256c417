// `npm run pack:client -- FOLDER`: packs the library into a tarball in this folder, and prints its path.
// `main.ts --code FOLDER`: builds only what Node needs of the package, as that folder.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildCode, buildPackage } from './build-package.ts';

const [first = '.', second] = process.argv.slice(2);
if (first === '--code' && second !== undefined) await buildCode(second);
else console.log(await pack(resolve(first)));

async function pack(destination: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'methods-client-package-'));
  try {
    await buildPackage(folder);
    const words = ['pack', '--silent', '--pack-destination', destination];
    const printed = execFileSync('npm', words, { cwd: folder, encoding: 'utf8' });
    return join(destination, printed.trim().split('\n').at(-1) ?? '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
