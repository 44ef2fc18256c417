// Runs a source file of this checkout in this process: its built form, or the file itself if it is not built, like
// files that only tests run.
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BuildFailed, builtCode } from './code-cache.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** @param {string} source its absolute path */
export async function importBuilt(source) {
  try {
    const { folder, entries } = builtCode(ROOT.slice(0, -1));
    const built = entries[relative(ROOT, source).replaceAll(sep, '/')];
    if (built !== undefined) return await import(pathToFileURL(join(folder, built)).href);
  } catch (error) {
    if (!(error instanceof BuildFailed)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  const { register } = await import('tsx/esm/api');
  // A tsconfig.json of the current folder does not change how our files are read.
  register({ tsconfig: false });
  return await import(pathToFileURL(source).href);
}
