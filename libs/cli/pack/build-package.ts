// Builds the content of the package that `npm pack` creates, besides bin/: the command and the workspace packages it
// uses as plain JavaScript, in pieces that are loaded when needed; the step runners; the licence. Third-party packages
// stay dependencies, even if their code is among the pieces, so that their licences are installed too.
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { programTree } from '../src/command/program-tree.ts';
import { COMMANDS } from '../src/commands.ts';

const CLI = fileURLToPath(new URL('..', import.meta.url));
const LIBS = join(CLI, '..');

/** Files that the code finds relative to its own location: its pieces are two folders below the package's `dist`. */
const BESIDE_THE_CODE = [join(LIBS, 'executor/src/dependencies/pip-hashes.py')];

/**
 * The modules that every call, and every check of a method, needs. As published they are 150 small files, and finding
 * them takes as long as Node takes to start.
 */
const INLINED: readonly string[] = [
  'acorn',
  '@noble/hashes',
  'ajv-formats',
  'canonicalize',
  'commander',
  'diff',
  're2js',
  'yaml',
];
/** Code in the older module format loads Node's own modules by `require`. */
const REQUIRE = "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";

/** Builds `dist` from scratch. Returns the sorted names of the third-party packages that it uses. */
export async function buildPackage(dist: string): Promise<string[]> {
  await rm(dist, { recursive: true, force: true });
  const code = join(dist, 'lib/methods');
  const { metafile } = await build({
    absWorkingDir: CLI,
    // The second is a separate process, started by its location beside the code.
    entryPoints: { main: 'src/main.ts', 'keyring-process': 'src/sign-in/keyring-process.js' },
    outdir: code,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    metafile: true,
    logLevel: 'warning',
    legalComments: 'none',
    banner: { js: REQUIRE },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    plugins: [
      {
        // Commander needs it only for commands that are separate programs; Node takes milliseconds to load it.
        name: 'child processes of commander when it starts one',
        setup(builder) {
          builder.onResolve({ filter: /^node:child_process$/ }, ({ importer, path }) =>
            importer.includes('/node_modules/commander/') ? { path, namespace: 'later' } : undefined,
          );
          builder.onLoad({ filter: /.*/, namespace: 'later' }, ({ path }) => ({
            contents: `exports.spawn = (...words) => require(${JSON.stringify(path)}).spawn(...words);`,
          }));
        },
      },
      {
        name: 'packages of others',
        setup(builder) {
          builder.onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
            const own = kind === 'entry-point' || path.startsWith('@methods/');
            const inlined = INLINED.includes(packageOf(path)) || importer.includes('/node_modules/');
            return own || inlined ? undefined : { path, external: true };
          });
        },
      },
    ],
  });
  await mkdir(join(dist, 'runner'), { recursive: true });
  await cp(join(LIBS, 'executor/runner'), join(dist, 'runner'), {
    recursive: true,
    filter: (path) => basename(path) !== '__pycache__',
  });
  for (const file of BESIDE_THE_CODE) await cp(file, join(code, basename(file)));
  await writeFile(join(dist, 'help.txt'), helpText());
  await cp(join(LIBS, '../LICENSE'), join(dist, 'LICENSE'));
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  const imported = imports.flatMap(({ path, external }) => (external && !isBuiltin(path) ? [packageOf(path)] : []));
  const inputs = Object.keys(metafile.inputs);
  const inlined = INLINED.filter((name) => inputs.some((path) => path.includes(`node_modules/${name}/`)));
  return [...new Set([...imported, ...inlined])].sort();
}

/** What `methods --help` prints, not wrapped: bin/ prints it without loading the tree of commands. */
function helpText(): string {
  let text = '';
  const write = (part: string) => {
    text += part;
    return true;
  };
  const stream = { isTTY: false, write } as unknown as NodeJS.WriteStream & { fd: 1 & 2 };
  programTree(COMMANDS, { stdout: stream, stderr: stream }).outputHelp();
  return text;
}

function packageOf(path: string): string {
  return path.split('/', path.startsWith('@') ? 2 : 1).join('/');
}
