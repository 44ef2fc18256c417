// Builds the arguments and the environment that start a process or thread from the file of its code: `new URL('./main.ts',
// import.meta.url)`. In built code that is the built form, which Node runs directly.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RUN = fileURLToPath(new URL('../start/run.mjs', import.meta.url));

/** The arguments for node. */
export function nodeArguments(code: URL): string[] {
  const path = fileURLToPath(code);
  return isSource(code) ? [RUN, path] : [path];
}

/** The environment in which Node (22 and later) keeps what it compiles beside the built code, with which it is removed. */
export function compileCacheOf(code: URL): Readonly<Record<string, string>> {
  return isSource(code) ? {} : { NODE_COMPILE_CACHE: join(dirname(fileURLToPath(code)), 'compiled') };
}

/**
 * Returns JavaScript with a promise of the code's module. A thread does not inherit the TypeScript loader of its
 * process.
 */
export function importOf(code: URL): string {
  const imported = `import(${JSON.stringify(code.href)})`;
  if (!isSource(code)) return imported;
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  return `import(${tsx}).then(({ register }) => { register(); return ${imported}; })`;
}

function isSource({ pathname }: URL): boolean {
  return pathname.endsWith('.ts');
}
