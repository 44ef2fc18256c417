// Builds code of the repository as plain JavaScript into one folder: pieces shared by its processes, their threads and
// the tests. Third-party packages are not built, except those that would slow starts.

import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { positionsFile } from './source-positions.ts';

/**
 * Packages for which finding the files and searching them for the names of CommonJS exports takes longer than reading
 * them. None finds files relative to its own location.
 */
const BUILT_IN = new Set([
  ...['typebox', '@bufbuild/protobuf', 'nats', 'nkeys.js', 'tweetnacl', 'tsyringe', 'tslib', 'reflect-metadata'],
  ...['@grpc/grpc-js', '@js-sdsl/ordered-map', 'undici', 'yaml', 'jose', 'semver', 'fast-check', 'pure-rand'],
  ...[
    'lru-cache',
    're2js',
    '@noble/hashes',
    'canonicalize',
    'acorn',
    'aws4fetch',
    'commander',
    'diff',
    'get-port',
    'ipaddr.js',
  ],
  ...['close-with-grace', 'openid-client', 'oauth4webapi'],
  // The requests of the gateway.
  ...['fastify', 'avvio', 'find-my-way', 'light-my-request', 'secure-json-parse', 'fast-json-stringify', 'fast-uri'],
  ...['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', '@fastify/merge-json-schemas', 'ajv'],
  ...['@fastify/error', '@fastify/proxy-addr', 'safe-regex2', 'ret', 'fast-querystring', 'dequal', 'fastq', 'rfdc'],
  ...['@fastify/cookie', 'cookie', '@fastify/forwarded', 'set-cookie-parser', '@fastify/deepmerge', 'ajv-formats'],
  ...['reusify', 'toad-cache', 'abstract-logging', 'json-schema-ref-resolver', 'fast-decode-uri-component'],
  ...['fast-deep-equal', 'json-schema-traverse', '@fastify/swagger', 'fastify-plugin', 'json-schema-resolver'],
  ...['@modelcontextprotocol/server', '@modelcontextprotocol/core', 'zod'],
  // Logs.
  ...['pino', '@pinojs/redact', 'atomic-sleep', 'on-exit-leak-free', 'pino-std-serializers', 'quick-format-unescaped'],
  ...['process-warning', 'safe-stable-stringify', 'sonic-boom', 'thread-stream'],
  // Postgres and its migrations.
  ...['postgres', 'postgrator', 'glob', 'minimatch', 'brace-expansion', 'balanced-match', 'minipass', 'path-scurry'],
  // Archives.
  ...['tar-stream', 'streamx', 'b4a', 'fast-fifo', 'text-decoder', 'events-universal'],
  // The identity provider of a local stack.
  ...['oidc-provider', 'koa', 'debug', 'ms', 'accepts', 'mime-types', 'mime-db', 'negotiator', 'content-disposition'],
  ...['content-type', 'cookies', 'depd', 'keygrip', 'tsscmp', 'delegates', 'destroy', 'encodeurl', 'escape-html'],
  ...['fresh', 'http-assert', 'deep-equal', 'http-errors', 'inherits', 'setprototypeof', 'statuses', 'toidentifier'],
  ...['koa-compose', 'on-finished', 'ee-first', 'parseurl', 'type-is', 'media-typer', 'vary'],
]);
/** Marks the plugin's own look-ups. */
const FOUND = Symbol('found');
/**
 * Imported by every piece before anything else, since a piece with a decorated class may be read before its `main.ts`.
 */
const FIRST = 'first-piece';
const FIRST_IMPORTS = [`import './libs/built-code/src/stack-traces.ts';`, `import 'reflect-metadata/lite';`];

/**
 * Where code names other code to run: `new URL('./main.ts', import.meta.url)`, the file of a process or thread. In built
 * code this becomes the path of the built form; every other path that code derives from its own location refers to the
 * sources.
 */
const OWN_PLACE = /new URL\(\s*'([^']+\.ts)',\s*import\.meta\.url,?\s*\)|import\.meta\.url/g;

export interface CodeToBuild {
  readonly root: string;
  /** Paths from `root`, each a file of the folder by its `builtName`. */
  readonly entries: readonly string[];
  readonly folder: string;
  /** Returns the text to read instead of a file's own. */
  readonly textOf?: (file: string, text: string) => string;
  readonly plugins?: readonly Plugin[];
  /** Entries that a plugin creates: its resolved code, by the file's name without its extension. */
  readonly made?: Readonly<Record<string, string>>;
}

export interface BuiltFile {
  readonly path: string;
  readonly contents: Uint8Array;
}

/**
 * Returns the files to write, each piece with the one that maps its positions to the sources, and the paths of all
 * sources.
 * @throws BuildFailure of esbuild, which has printed the errors.
 */
export async function buildCode(code: CodeToBuild): Promise<{ files: BuiltFile[]; inputs: string[] }> {
  const { root, folder, plugins = [], made = {} } = code;
  const entries = new Set(code.entries);
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      ...Object.fromEntries([...entries].map((path) => [builtName(path).replace(/\.mjs$/, ''), path])),
      ...made,
      [FIRST]: FIRST,
    },
    outdir: folder,
    write: false,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'external',
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
    // CommonJS packages that are built in call `require` for those that are not.
    banner: {
      js: [
        `import './${FIRST}.mjs';`,
        `import { createRequire as requireFrom } from 'node:module';`,
        `const require = requireFrom(${JSON.stringify(join(root, 'package.json'))});`,
      ].join(' '),
    },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    plugins: [...plugins, firstPiece(root), othersOutside(root), placesOf(code, entries)],
  });
  const files = outputFiles.map(({ path, contents, text }) =>
    path.endsWith('.map')
      ? { path: path.replace(/map$/, 'positions'), contents: positionsFile(text) }
      : { path, contents },
  );
  return { files, inputs: Object.keys(metafile.inputs) };
}

function firstPiece(root: string): Plugin {
  return {
    name: 'what every piece imports',
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^${FIRST}$`) }, ({ path }) => ({ path, namespace: FIRST }));
      builder.onLoad({ filter: /^/, namespace: FIRST }, () => ({
        contents: FIRST_IMPORTS.join('\n'),
        resolveDir: root,
      }));
    },
  };
}

function othersOutside(root: string): Plugin {
  return {
    name: 'packages of others stay outside',
    setup(builder) {
      builder.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        const isOurs = kind === 'entry-point' || path.startsWith('@methods/') || BUILT_IN.has(packageOf(path));
        if (isOurs || pluginData === FOUND) return undefined;
        const isFoundFromRoot = !importer.includes('/node_modules/') && !isNested(root, importer, path);
        if (isFoundFromRoot || isBuiltin(path)) return { path, external: true };
        // The version that the importer finds from its own location.
        const found = await builder.resolve(path, { kind, importer, resolveDir, pluginData: FOUND });
        return found.errors.length > 0 ? { path, external: true } : { path: found.path, external: true };
      });
    },
  };
}

/** Reports whether a package below `root` has its own version of what it imports. */
function isNested(root: string, importer: string, path: string): boolean {
  const folders = relative(root, dirname(importer)).split('/');
  return folders.some((_, depth) => {
    const folder = join(root, ...folders.slice(0, depth + 1));
    return existsSync(join(folder, 'node_modules', packageOf(path)));
  });
}

function packageOf(path: string): string {
  return path.split('/', path.startsWith('@') ? 2 : 1).join('/');
}

function placesOf({ root, textOf = (_, text) => text }: CodeToBuild, entries: ReadonlySet<string>): Plugin {
  return {
    name: 'places of the sources',
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const file = relative(root, path);
        const text = textOf(file, await readFile(path, 'utf8'));
        return { contents: placed(root, file, text, entries), loader: 'ts' };
      });
    },
  };
}

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
function placed(root: string, file: string, text: string, entries: ReadonlySet<string>): string {
  const own = JSON.stringify(pathToFileURL(join(root, file)).href);
  return text.replace(OWN_PLACE, (whole, name?: string) => {
    const path = name === undefined ? '' : normalize(join(dirname(file), name));
    return entries.has(path)
      ? `new URL('./${builtName(path)}', import.meta.url)`
      : whole.replace('import.meta.url', () => own);
  });
}
