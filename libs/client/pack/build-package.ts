// Builds the folder that `npm pack` packs: the library as ES modules and as CommonJS, each with its types, without any
// dependency. The types of runs are written from their schemas, which applications do not have.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Question } from '@methods/api/question';
import { Run } from '@methods/api/run';
import { Sealed } from '@methods/api/value';
import { typescriptOfSchema } from '@methods/cli/method-types/typescript-types';
import type { JsonSchema } from '@methods/method/json';
import { buildBundle, PROGRAM } from '@methods/worker/pack/build-bundle';
import { build } from 'esbuild';

const run = promisify(execFile);
const CLIENT = fileURLToPath(new URL('..', import.meta.url));
const ROOT = join(CLIENT, '../..');
const KINDS = { esm: 'module', cjs: 'commonjs' } as const;
type Kind = keyof typeof KINDS;

/** Builds `folder` from scratch. */
export async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await buildCode(folder);
  for (const [name, text] of await declarations()) await writeFile(join(folder, 'cjs', name), text);
  // One set of types: what an application's files add to `MethodTypes` counts in its files of either kind.
  await writeFile(join(folder, 'esm/index.d.ts'), "export * from '../cjs/index.js';\n");
  await cp(join(CLIENT, 'README.md'), join(folder, 'README.md'));
  await cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
}

/** The package as far as Node needs it. */
export async function buildCode(folder: string): Promise<void> {
  const inputs = new Set<string>();
  for (const [kind, type] of Object.entries(KINDS) as [Kind, string][]) {
    await mkdir(join(folder, kind), { recursive: true });
    for (const input of await bundle(kind, join(folder, kind))) inputs.add(input);
    await writeFile(join(folder, kind, 'package.json'), `${JSON.stringify({ type, sideEffects: false })}\n`);
  }
  await buildBundle(join(folder, 'worker'));
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`);
  await writeFile(join(folder, 'INLINED-LICENSES.txt'), await inlinedLicences(inputs, CLIENT));
}

/** Returns the files whose code it has. */
async function bundle(format: Kind, outdir: string): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: CLIENT,
    entryPoints: ['src/index.ts'],
    outdir,
    bundle: true,
    // What few calls need is loaded by them.
    splitting: format === 'esm',
    chunkNames: '[name]-[hash]',
    format,
    define: {
      WORKER_FROM_CODE: JSON.stringify(`../worker/${PROGRAM}`),
      ...(format === 'cjs' ? { 'import.meta.dirname': '__dirname' } : {}),
    },
    platform: 'node',
    target: 'node20',
    metafile: true,
    logLevel: 'warning',
    legalComments: 'none',
  });
  const outside = Object.values(metafile.outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ path, external }) => external === true && !isBuiltin(path));
  if (outside.length > 0) throw new Error(`the package imports ${outside.map(({ path }) => path).join(', ')}`);
  return Object.keys(metafile.inputs);
}

/** Maps the names of the library's declaration files to their texts. */
async function declarations(): Promise<Map<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'methods-client-types-'));
  try {
    const options = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--rootDir', ROOT];
    const project = JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { typeRoots: [join(ROOT, 'node_modules/@types')] },
      include: [],
      files: [join(CLIENT, 'src/index.ts')],
    });
    await writeFile(join(folder, 'tsconfig.json'), project);
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    await run(tsc, ['-p', folder, ...options, '--outDir', join(folder, 'out')]).catch(
      ({ stdout }: { stdout: string }) => {
        throw new Error(`tsc:\n${stdout}`);
      },
    );
    const sources = join(folder, 'out/libs/client/src');
    const files = new Map([['api.d.ts', apiTypes()]]);
    for (const name of await readdir(sources)) files.set(name, published(await readFile(join(sources, name), 'utf8')));
    return reached(files, 'index.d.ts');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Imports name what the package has. */
function published(text: string): string {
  return text
    .replace(/'@methods\/api\/(?:run|question)'/g, "'./api.js'")
    .replace(/(['"]\.\/[\w-]+)\.ts(?=['"])/g, '$1.js');
}

/** The files that `first` needs. */
function reached(files: ReadonlyMap<string, string>, first: string): Map<string, string> {
  const found = new Map<string, string>();
  const left = [first];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    const text = files.get(name);
    if (text === undefined || found.has(name)) continue;
    found.set(name, text);
    for (const [, place = '', foreign] of text.matchAll(
      /(?:from |import\()['"](?:\.\/([\w-]+)\.js|([^.'"][^'"]*))['"]/g,
    )) {
      if (foreign === undefined) left.push(`${place}.d.ts`);
      else if (!isBuiltin(foreign)) throw new Error(`the types of ${name} are in ${foreign}`);
    }
  }
  return found;
}

async function manifest(): Promise<object> {
  const { name, version, license } = JSON.parse(await readFile(join(CLIENT, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const files = (kind: Kind) => ({ types: `./${kind}/index.d.ts`, default: `./${kind}/index.js` });
  return {
    name,
    version,
    description: 'Starts runs of Methods from Node applications, waits for them and answers their questions.',
    license,
    type: 'module',
    engines: { node: '>=20.19' },
    sideEffects: false,
    main: './cjs/index.js',
    module: './esm/index.js',
    types: './cjs/index.d.ts',
    exports: { '.': { import: files('esm'), require: files('cjs') }, './package.json': './package.json' },
  };
}

// Writes the types of runs and their questions as TypeScript, from the schemas by which the server describes them.

/** The text of `api.d.ts`. */
export function apiTypes(): string {
  // A sealed question has only some of the fields; the library opens it before it passes it on.
  const question = { ...Question, properties: { ...Question.properties, sealed: Sealed } };
  const run = { ...Run, properties: { ...Run.properties, question: { $ref: '#/$defs/Question' } } };
  const types = { Question: question, Run: run, RunStatus: Run.properties.status };
  const texts = Object.entries(types).map(
    ([name, schema]) => `export type ${name} = ${typescriptOfSchema(schema as unknown as JsonSchema, (each) => each)};`,
  );
  return `${texts.join('\n')}\n`;
}

// The licences of the packages whose code is in the built files: their texts have to come with it.

const LICENCE = /^(?:licen[cs]e|copying|notice)(?:\.\w+)?$/i;

/** `inputs`: the files that were built, from `folder`. @throws Error for a package without a licence text */
async function inlinedLicences(inputs: Iterable<string>, folder: string): Promise<string> {
  const packages = new Set<string>();
  for (const input of inputs) {
    const [found] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
    if (found !== undefined) packages.add(join(folder, found));
  }
  const texts: string[] = [];
  for (const place of [...packages].sort()) {
    const { name, version } = JSON.parse(await readFile(join(place, 'package.json'), 'utf8')) as Record<string, string>;
    const names = (await readdir(place)).filter((each) => LICENCE.test(each) && existsSync(join(place, each)));
    if (names.length === 0) throw new Error(`${name} has no licence text`);
    const bodies = await Promise.all(names.sort().map((each) => readFile(join(place, each), 'utf8')));
    texts.push(`${name} ${version}\n\n${bodies.map((body) => body.trim()).join('\n\n')}\n`);
  }
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
