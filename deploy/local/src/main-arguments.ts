// What node is called with to start one of our own processes. In a checkout that is its source, by way of tsx; the tests
// build all code once and name the folder: a process starts from there with half the work.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TSX = import.meta.resolve('tsx');
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** `main` is its file, from the repository's root. */
export function mainArguments(main: string, built = process.env.METHODS_BUILT ?? null): string[] {
  const code = built === null ? ['--import', TSX, join(ROOT, main)] : [join(built, main.replace(/ts$/, 'mjs'))];
  return ['--enable-source-maps', ...code];
}
