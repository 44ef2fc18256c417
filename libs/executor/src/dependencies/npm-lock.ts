// npm's lock file as a part of ours: only what an installation needs, so that the same packages give the same bytes.
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

/** The place of a package that `npm ci` would take without comparing it with anything; null: there is none. */
export function unlockedIn(lock: JsonObject): string | null {
  for (const [place, entry] of packagesOf(lock)) {
    if (place === '') continue;
    // A link leads to some folder of the machine.
    if (!place.startsWith('node_modules/') || place.includes('..') || entry.link === true) return place;
    if (entry.resolved !== undefined && !/^https?:/.test(String(entry.resolved))) return place;
    if (typeof entry.integrity !== 'string' && entry.inBundle !== true) return place;
  }
  return null;
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
