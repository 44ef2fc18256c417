// Builds the worker of applications as a folder that needs nothing but Node: its code with that of all packages it uses,
// the step runners, and the licences. Both client libraries carry it.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';

const WORKER = fileURLToPath(new URL('..', import.meta.url));
const ROOT = join(WORKER, '../..');
const EXECUTOR = join(ROOT, 'libs/executor');
/** The code finds the runners two folders above itself. */
const CODE = 'lib/methods';
/** Code in the older module format loads Node's own modules by `require`. */
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.filename);";

/** The path of the program in the folder. */
export const PROGRAM = `${CODE}/worker.mjs`;

/** Builds `folder` from scratch. */
export async function buildBundle(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(WORKER, 'src/in-app/main.ts')],
    outfile: join(folder, PROGRAM),
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    metafile: true,
    logLevel: 'warning',
    legalComments: 'none',
    banner: { js: REQUIRE },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  });
  const outside = Object.values(metafile.outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ path, external }) => external === true && !path.startsWith('node:') && !isBuiltin(path));
  if (outside.length > 0) throw new Error(`the worker imports ${outside.map(({ path }) => path).join(', ')}`);
  await cp(join(EXECUTOR, 'src/dependencies/pip-hashes.py'), join(folder, CODE, 'pip-hashes.py'));
  await mkdir(join(folder, 'runner'));
  await cp(join(EXECUTOR, 'runner'), join(folder, 'runner'), {
    recursive: true,
    filter: (path) => basename(path) !== '__pycache__',
  });
  await writeFile(join(folder, 'LICENSES'), await licences(metafile));
}

async function licences({ inputs }: Metafile): Promise<string> {
  const names = Object.keys(inputs).map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0]);
  const packages = [...new Set(names.filter((name) => name !== undefined))].sort();
  const texts = await Promise.all(
    packages.map(async (place) => {
      const { name, version, license } = JSON.parse(await readFile(join(ROOT, place, 'package.json'), 'utf8')) as {
        [field: string]: string;
      };
      return `${name} ${version} (${license})\n\n${await licenceText(join(ROOT, place))}`;
    }),
  );
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

async function licenceText(folder: string): Promise<string> {
  for (const name of ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'LICENCE', 'license', 'LICENSE-MIT']) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => null);
    if (text !== null) return text;
  }
  return '';
}
