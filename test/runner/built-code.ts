// All tests and all processes of the repository as plain JavaScript, built once for a run: read through tsx, each of some
// five hundred processes would resolve and translate a thousand files again, in a loader's thread of its own. Packages of
// others stay where they are. Built code finds its files by the place of its source.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** Under the packages, which built code imports by name. */
const FOLDER = 'node_modules/.cache';
const NAME = /^methods-built-(\d+)$/;
/** A package of four hundred small files, which a process takes longer to find than to read. */
const SMALL_FILES = 'typebox';
const MAINS = [
  ...['services/method-registry/src/main.ts', 'services/run-scheduler/src/main.ts', 'services/notifier/src/main.ts'],
  ...['gateway/src/main.ts', 'libs/worker/src/main.ts'],
  ...['deploy/local/src/main.ts', 'deploy/local/src/identity/main.ts', 'deploy/local/src/token/main.ts'],
];

export class BuiltCode {
  private constructor(readonly folder: string) {}

  /** `tests`: paths from `root`. */
  static async build(root: string, tests: readonly string[]): Promise<BuiltCode> {
    const cache = join(root, FOLDER);
    mkdirSync(cache, { recursive: true });
    for (const name of readdirSync(cache)) {
      // Of a run that was killed.
      const pid = Number(NAME.exec(name)?.[1]);
      if (pid > 0 && !isRunning(pid)) rmSync(join(cache, name), { recursive: true, force: true });
    }
    const folder = join(cache, `methods-built-${process.pid}`);
    await build({
      absWorkingDir: root,
      entryPoints: [...tests, ...MAINS],
      outdir: folder,
      outbase: root,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: 'linked',
      sourcesContent: false,
      logLevel: 'warning',
      // A piece with a decorated class may be read before the file that imports this for it.
      banner: { js: "import 'reflect-metadata/lite';" },
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
      plugins: [othersOutside, placeOfSource],
    });
    return new BuiltCode(folder);
  }

  /** Where the built form of a source file is. */
  file(path: string): string {
    return join(this.folder, path.replace(/ts$/, 'mjs'));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const othersOutside: Plugin = {
  name: 'packages of others stay outside',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@methods/') || path === SMALL_FILES
        ? undefined
        : { path, external: true },
    );
  },
};

const placeOfSource: Plugin = {
  name: 'import.meta.url is that of the source',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href));
      return { contents, loader: 'ts' };
    });
  },
};

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs, and is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
