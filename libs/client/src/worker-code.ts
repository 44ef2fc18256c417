// Finds the code of the worker, which is beside that of the library in its package.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigurationError } from './errors.ts';

/** Set when the package is built: where the worker is, seen from its code. */
declare const WORKER_FROM_CODE: string | undefined;
const PACKAGE = '@methods/client';

/** Null: this is not the package. @throws ConfigurationError */
export function workerCode(): URL | null {
  if (typeof WORKER_FROM_CODE === 'undefined') return null;
  for (const folder of codeFolders()) {
    const path = join(folder, WORKER_FROM_CODE);
    if (existsSync(path)) return pathToFileURL(path);
  }
  const message =
    `The worker of ${PACKAGE} is not beside its code, which a bundler may have moved. Leave the package out of the ` +
    `bundle (esbuild: --external:${PACKAGE}) and install it where the application runs, or give worker: false and run ` +
    '`methods worker`.';
  throw new ConfigurationError('worker_missing', message);
}

/** Of the running code; for that of a bundle, of the package as installed for it or for the working folder. */
function* codeFolders(): Generator<string> {
  const here: string | undefined = import.meta.dirname;
  if (here !== undefined) yield here;
  for (const folder of [here, process.cwd()]) {
    try {
      if (folder !== undefined) yield dirname(createRequire(join(folder, 'none.js')).resolve(PACKAGE));
    } catch {
      // It is not installed there.
    }
  }
}
