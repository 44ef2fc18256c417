// Where built code may be stored: with the packages of its checkout; if those are not writable, with the user's caches;
// and without a home, among temporary files.
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The first usable one is used.
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
