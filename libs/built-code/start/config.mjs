// Where built code may be kept: with the packages of its checkout; where those are not ours to write, with the caches of
// the user; and where there is no home, among temporary files.
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The first that can be used is.
 * @param {string} root
 * @returns {string[]}
 */
export function placesOf(root) {
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return [
    join(root, 'node_modules/.cache/methods'),
    join(caches, 'methods/built'),
    join(tmpdir(), `methods-built-${process.getuid?.() ?? 'user'}`),
  ];
}
