// All tests and all processes of the repository as plain JavaScript, built once for a run: read through tsx, each of some
// five hundred processes would resolve and translate a thousand files again, in a loader's thread of its own. Packages of
// others stay where they are. Built code finds its files by the place of its source.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { inSuite } from './shared-processes.ts';

/** Under the packages, which built code imports by name. */
const FOLDER = 'node_modules/.cache';
const NAME = /^methods-built-(\d+)$/;
/** Packages of many small files, which a process takes longer to find than to read. None finds files by its own place. */
const BUILT_IN = new Set([
  ...['typebox', '@bufbuild/protobuf', '@grpc/grpc-js', 'nats', 'nkeys.js', 'tsyringe', 'tslib', 'ajv', 'ajv-formats'],
  ...['undici', 'yaml', 'jose', 'semver', 'fast-check', 'pure-rand'],
]);
/** Marks a look-up of the plugin's own. */
const FOUND = Symbol('found');
const GROUP = 'tests: ';
const MAINS = [
  ...['services/method-registry/src/main.ts', 'services/run-scheduler/src/main.ts', 'services/notifier/src/main.ts'],
  ...['gateway/src/main.ts', 'libs/worker/src/main.ts'],
  ...['deploy/local/src/main.ts', 'deploy/local/src/identity/main.ts', 'deploy/local/src/token/main.ts'],
];

export class BuiltCode {
  private constructor(readonly folder: string) {}

  /** `tests`: groups of paths from `root`, one for each process. */
  static async build(root: string, tests: readonly (readonly string[])[]): Promise<BuiltCode> {
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
      entryPoints: [
        ...tests.map((group) => ({ in: GROUP + group.join(' '), out: entryOf(group).replace(/\.ts$/, '') })),
        ...MAINS.map((main) => ({ in: main, out: main.replace(/\.ts$/, '') })),
      ],
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
      // Packages of CommonJS that are built in call `require` for those that are not.
      banner: {
        js: [
          `import 'reflect-metadata/lite';`,
          `import { createRequire as requireFrom } from 'node:module';`,
          `const require = requireFrom(${JSON.stringify(join(root, 'package.json'))});`,
        ].join(' '),
      },
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
      plugins: [groupsOfTests(root), othersOutside, placeOfSource(root, tests)],
    });
    return new BuiltCode(folder);
  }

  /** Where the built form of a group is. */
  file(group: readonly string[]): string {
    return join(this.folder, entryOf(group).replace(/ts$/, 'mjs'));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const othersOutside: Plugin = {
  name: 'packages of others stay outside',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      const isOurs = kind === 'entry-point' || path.startsWith('@methods/') || BUILT_IN.has(packageOf(path));
      if (isOurs || pluginData === FOUND) return undefined;
      if (!importer.includes('/node_modules/') || isBuiltin(path)) return { path, external: true };
      // The version that its importer finds from its own place.
      const found = await builder.resolve(path, { kind, importer, resolveDir, pluginData: FOUND });
      return found.errors.length > 0 ? { path, external: true } : { path: found.path, external: true };
    });
  },
};

function packageOf(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}

function placeOfSource(root: string, tests: readonly (readonly string[])[]): Plugin {
  const inSuites = new Set(tests.filter((group) => group.length > 1).flat());
  return {
    name: 'import.meta.url is that of the source',
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const name = relative(root, path);
        const text = await readFile(path, 'utf8');
        const source = inSuites.has(name) ? inSuite(name, text) : text;
        const contents = source.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href));
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** A group has the name of its first file. */
function entryOf([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : first.replace(/\.test\.ts$/, '.and-others.test.ts');
}

function groupsOfTests(root: string): Plugin {
  return {
    name: 'test files of one process',
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^${GROUP}`) }, ({ path }) => ({ path, namespace: 'group' }));
      builder.onLoad({ filter: /^/, namespace: 'group' }, ({ path }) => {
        const files = path.slice(GROUP.length).split(' ');
        return {
          contents: files.map((file) => `import ${JSON.stringify(`./${file}`)};`).join('\n'),
          resolveDir: root,
        };
      });
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs, and is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
