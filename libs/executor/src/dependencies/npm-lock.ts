// npm's lock file as a part of ours: only the fields that an installation needs, so that the same packages give the
// same bytes.
import type { ExactPackage } from '@methods/method/compiled-method';
import { isJsonObject, type JsonObject, objectOf, ownField } from '@methods/method/json';

/** The rest is for people, or may be changed in the registry later (`deprecated`). */
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

export function leanNpmLock(lock: JsonObject): JsonObject {
  const packages = [...packagesOf(lock)].map(([place, entry]) => {
    return [place, objectOf(Object.entries(entry).filter(([key]) => KEPT.has(key)))] as const;
  });
  const { name = '', version = '', lockfileVersion = 3 } = lock;
  return { name, version, lockfileVersion, requires: true, packages: objectOf(packages) };
}

/** The hashes npm compares a file with. Old packages have SHA-1; only their author could make two files with one. */
const HASHES = /^(sha(1|256|384|512)-[A-Za-z0-9+/]{27,}={0,2}(\s+|$))+$/;

/** The place of a package that `npm ci` would take without comparing it with anything; null: there is none. */
export function unlockedIn(lock: JsonObject): string | null {
  const packages = new Map(packagesOf(lock));
  for (const [place, entry] of packages) {
    if (place === '') continue;
    // A link leads to some folder of the machine.
    if (!place.startsWith('node_modules/') || place.includes('..') || entry.link === true) return place;
    if (entry.resolved !== undefined && !/^https?:/.test(String(entry.resolved))) return place;
    if (!hasHash(entry) && !isBundled(place, packages)) return place;
  }
  return null;
}

function hasHash({ integrity }: JsonObject): boolean {
  return typeof integrity === 'string' && HASHES.test(integrity);
}

/** True only for a package inside of a file that has a hash: the mark is only a claim of the lock. */
function isBundled(place: string, packages: ReadonlyMap<string, JsonObject>): boolean {
  const entry = packages.get(place);
  if (entry?.inBundle !== true || entry.resolved !== undefined || entry.integrity !== undefined) return false;
  for (let at = place.lastIndexOf('/node_modules/'); at > 0; at = place.lastIndexOf('/node_modules/', at - 1)) {
    const around = packages.get(place.slice(0, at));
    if (around !== undefined && hasHash(around)) return true;
  }
  return false;
}

/** The packages the lock was made for, in the versions it has. */
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
