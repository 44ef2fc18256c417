// Builds the wheel of the Python library, without Python: its modules, the worker's code, and the metadata of
// pyproject.toml.
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildBundle } from '@methods/worker/pack/build-bundle';
import { parse } from 'smol-toml';
import { zipFile } from './zip-file.ts';

const LIBRARY = fileURLToPath(new URL('../../client-python/', import.meta.url));
/** The folder of the worker's code in the package; `_worker.py` knows it. */
const WORKER = 'methods/_worker_code';

interface Project {
  readonly name: string;
  readonly description: string;
  readonly license: { readonly text: string };
  readonly 'requires-python': string;
  readonly dependencies: readonly string[];
  readonly 'optional-dependencies': Readonly<Record<string, readonly string[]>>;
  readonly classifiers: readonly string[];
}

/** Writes the wheel into the folder and returns its name. `scratch`: an empty folder. */
export async function buildWheel(folder: string, scratch: string): Promise<string> {
  const { project } = parse(await readFile(join(LIBRARY, 'pyproject.toml'), 'utf8')) as unknown as { project: Project };
  const version = await versionOf();
  const stem = `${project.name.replaceAll('-', '_')}-${version}`;
  const members = await filesBelow(join(LIBRARY, 'src'), '', (path) => /\.py$|\/py\.typed$/.test(path));
  await buildBundle(scratch);
  for (const [path, bytes] of await filesBelow(scratch, `${WORKER}/`)) members.set(path, bytes);
  const info = `${stem}.dist-info`;
  const readme = await readFile(join(LIBRARY, 'README.md'), 'utf8');
  members.set(`${info}/METADATA`, Buffer.from(metadata(project, version, readme)));
  const wheel = 'Wheel-Version: 1.0\nGenerator: methods\nRoot-Is-Purelib: true\nTag: py3-none-any\n';
  members.set(`${info}/WHEEL`, Buffer.from(wheel));
  members.set(`${info}/licenses/LICENSE`, await readFile(join(LIBRARY, '../../LICENSE')));
  members.set(`${info}/RECORD`, Buffer.from(record(members, `${info}/RECORD`)));
  const name = `${stem}-py3-none-any.whl`;
  await writeFile(join(folder, name), zipFile(members));
  return name;
}

async function versionOf(): Promise<string> {
  const text = await readFile(join(LIBRARY, 'src/methods/_version.py'), 'utf8');
  const [, version] = /^__version__ = "([^"]+)"$/m.exec(text) ?? [];
  if (version === undefined) throw new Error('_version.py has no version');
  return version;
}

async function filesBelow(folder: string, prefix: string, isWanted = (_path: string) => true) {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  const members = new Map<string, Uint8Array>();
  for (const path of paths.sort()) {
    const name = prefix + relative(folder, path).replaceAll(sep, '/');
    if (isWanted(name)) members.set(name, await readFile(path));
  }
  return members;
}

function metadata(project: Project, version: string, readme: string): string {
  const extras = Object.entries(project['optional-dependencies']);
  return [
    'Metadata-Version: 2.1',
    `Name: ${project.name}`,
    `Version: ${version}`,
    `Summary: ${project.description}`,
    `License: ${project.license.text}`,
    `Requires-Python: ${project['requires-python']}`,
    ...project.classifiers.map((each) => `Classifier: ${each}`),
    ...project.dependencies.map((each) => `Requires-Dist: ${each}`),
    ...extras.flatMap(([extra, needs]) => [
      `Provides-Extra: ${extra}`,
      ...needs.map((each) => `Requires-Dist: ${each}; extra == "${extra}"`),
    ]),
    'Description-Content-Type: text/markdown',
    '',
    readme,
  ].join('\n');
}

function record(members: ReadonlyMap<string, Uint8Array>, own: string): string {
  const lines = [...members].map(([path, bytes]) => {
    const hash = createHash('sha256').update(bytes).digest('base64url');
    return `${path},sha256=${hash},${bytes.length}`;
  });
  return `${[...lines, `${own},,`].join('\n')}\n`;
}
