// npm packages of a method: npm's own resolver makes the lock, and `npm ci` installs only what the lock names and
// checks every package's integrity.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExactPackage } from '@methods/method/compiled-method';
import { isJsonObject, type JsonObject, objectOf, ownField } from '@methods/method/json';
import { StepFailure } from '../step-failure.ts';
import { findCommand } from './find-command.ts';
import { callManager } from './package-manager.ts';
import type { PrepareOptions } from './prepare-options.ts';

// Set explicitly, to override the settings of the machine. Retries are ours: npm's own take minutes.
const FLAGS = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error', '--logs-max=0'];
const PLACE = ['--global=false', '--workspaces=false', '--dry-run=false', '--include=optional', '--fetch-retries=0'];

export async function lockNpm(
  packages: readonly ExactPackage[],
  folder: string,
  options: PrepareOptions,
): Promise<JsonObject> {
  const cwd = join(folder, 'npm');
  await mkdir(cwd);
  await writeFile(join(cwd, 'package.json'), JSON.stringify(manifest(packages)));
  // Without addresses: a worker may take the same packages from another registry.
  const lock = ['install', '--package-lock-only', '--package-lock', '--omit-lockfile-registry-resolved'];
  await npm([...lock, '--ignore-scripts'], cwd, 'npm could not find the packages', options);
  const made = leanNpmLock(JSON.parse(await readFile(join(cwd, 'package-lock.json'), 'utf8')) as JsonObject);
  const unlocked = unlockedIn(made);
  if (unlocked === null) return made;
  throw new StepFailure('dependency', `${unlocked} does not come from a registry and cannot be locked`);
}

export async function installNpm(lock: JsonObject, folder: string, options: PrepareOptions): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest(directPackages(lock))));
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const scripts = options.allowScripts ? '--ignore-scripts=false' : '--ignore-scripts';
  await npm(['ci', scripts], folder, 'npm could not install the packages', options);
  await mkdir(join(folder, 'node_modules'), { recursive: true });
}

function npm(args: readonly string[], cwd: string, what: string, options: PrepareOptions): Promise<string> {
  const all = [...args, '--prefix', cwd, ...FLAGS, ...PLACE];
  return callManager({ command: findCommand(options.path, 'npm'), args: all, cwd, what }, options);
}

function manifest(packages: readonly ExactPackage[]): JsonObject {
  const dependencies = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  return { name: 'environment', version: '0.0.0', private: true, dependencies };
}

/** Other fields are for people, or may change in the registry later (`deprecated`). */
const KEPT = new Set([
  'version',
  'resolved',
  'integrity',
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'bin',
  'os',
  'cpu',
  'libc',
  'optional',
  'dev',
  'devOptional',
  'peer',
  'hasInstallScript',
  'hasShrinkwrap',
  'inBundle',
  'link',
  'name',
]);

/**
 * npm's lock file as a part of ours: only the fields that an installation needs, so that the same packages give the
 * same bytes.
 */
function leanNpmLock(lock: JsonObject): JsonObject {
  const packages = [...packagesOf(lock)].map(([place, entry]) => {
    return [place, objectOf(Object.entries(entry).filter(([key]) => KEPT.has(key)))] as const;
  });
  const { name = '', version = '', lockfileVersion = 3 } = lock;
  return { name, version, lockfileVersion, requires: true, packages: objectOf(packages) };
}

/** The hashes npm compares a file with. Old packages have SHA-1; only their author could make two files with one. */
const HASHES = /^(sha(1|256|384|512)-[A-Za-z0-9+/]{27,}={0,2}(\s+|$))+$/;

/** Returns the place of a package that `npm ci` would install without comparing it; null: there is none. */
export function unlockedIn(lock: JsonObject): string | null {
  const packages = new Map(packagesOf(lock));
  for (const [place, entry] of packages) {
    if (place === '') continue;
    // A link may lead to any folder of the machine.
    if (!place.startsWith('node_modules/') || place.includes('..') || entry.link === true) return place;
    if (entry.resolved !== undefined && !/^https?:/.test(String(entry.resolved))) return place;
    if (!hasHash(entry) && !isBundled(place, packages)) return place;
  }
  return null;
}

function hasHash({ integrity }: JsonObject): boolean {
  return typeof integrity === 'string' && HASHES.test(integrity);
}

/** True only for a package inside of a file with a hash, since the mark is only a claim of the lock. */
function isBundled(place: string, packages: ReadonlyMap<string, JsonObject>): boolean {
  const entry = packages.get(place);
  if (entry?.inBundle !== true || entry.resolved !== undefined || entry.integrity !== undefined) return false;
  for (let at = place.lastIndexOf('/node_modules/'); at > 0; at = place.lastIndexOf('/node_modules/', at - 1)) {
    const around = packages.get(place.slice(0, at));
    if (around !== undefined && hasHash(around)) return true;
  }
  return false;
}

/** Returns the packages for which the lock was made, with their locked versions. */
export function directPackages(lock: JsonObject): ExactPackage[] {
  const packages = new Map(packagesOf(lock));
  const direct = packages.get('')?.dependencies;
  if (!isJsonObject(direct)) return [];
  return Object.keys(direct).map((name) => {
    const version = packages.get(`node_modules/${name}`)?.version;
    return { name, version: typeof version === 'string' ? version : 'nothing' };
  });
}

function* packagesOf(lock: JsonObject): Generator<[place: string, entry: JsonObject]> {
  const packages = ownField(lock, 'packages');
  if (!isJsonObject(packages)) return;
  for (const [place, entry] of Object.entries(packages)) if (isJsonObject(entry)) yield [place, entry];
}
