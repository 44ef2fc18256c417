// Builds the wheel of the Python library, without Python: its modules, the worker's code, and the metadata of
// pyproject.toml.
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32, deflateRawSync } from 'node:zlib';
import { buildBundle } from '@methods/worker/pack/build-bundle';
import { parse } from 'smol-toml';

const LIBRARY = fileURLToPath(new URL('../../client-python/', import.meta.url));
/** The folder of the worker's code in the package; `_worker.py` knows it. */
const WORKER = 'methods/_worker_code';

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
/** 1980-01-01, the first day that the format knows. */
const DAY = 0x21;
const UTF8 = 0x0800;
const DEFLATED = 8;
const MODE = 0o100644 << 16;

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

/** Deflated members, without times, so that the same members are the same bytes. */
function zipFile(members: ReadonlyMap<string, Uint8Array>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, bytes] of members) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(bytes);
    // What both heads say of a member.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(VERSION, 0);
    facts.writeUInt16LE(UTF8, 2);
    facts.writeUInt16LE(DEFLATED, 4);
    facts.writeUInt16LE(DAY, 8);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([number(LOCAL), facts, name, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(MODE >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    // The program that made it: of Unix, whose modes count.
    directory.push(Buffer.concat([number(CENTRAL), Buffer.from([VERSION, 3]), facts, rest, name]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(members.size, 4);
  end.writeUInt16LE(members.size, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, list, number(END), end]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
