// Finds where code names other code to run: `new URL('./main.ts', import.meta.url)`, the file of a process or thread.
// In built code this becomes the path of the built form; every other path that code derives from its own location
// refers to the sources.
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';

const OWN_PLACE = /new URL\(\s*'([^']+\.ts)',\s*import\.meta\.url,?\s*\)|import\.meta\.url/g;

/** All built code is in one folder, so a piece finds another by its name. */
export function builtName(path: string): string {
  return path.replaceAll('/', '.').replace(/\.ts$/, '.mjs');
}

/** Returns the code that the files name, as paths from `root` like their own. */
export function referencedCode(root: string, files: readonly string[]): string[] {
  const known = new Set(files);
  const named = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(OWN_PLACE)].flatMap(([, name]) =>
      name === undefined ? [] : [normalize(join(dirname(file), name))],
    ),
  );
  return [...new Set(named)].filter((path) => known.has(path)).sort();
}

/** `text` of the source `file`, in a folder of built code that has `entries`. */
export function placed(root: string, file: string, text: string, entries: ReadonlySet<string>): string {
  const own = JSON.stringify(pathToFileURL(join(root, file)).href);
  return text.replace(OWN_PLACE, (whole, name?: string) => {
    const path = name === undefined ? '' : normalize(join(dirname(file), name));
    return entries.has(path)
      ? `new URL('./${builtName(path)}', import.meta.url)`
      : whole.replace('import.meta.url', () => own);
  });
}
