// The lock of a version: the exact packages of its dependencies, with their hashes. Written once, when the version is
// saved or first prepared; every later environment must match it.
import { canonicalJson } from '@methods/base/canonical';
import type { ExactPackage, MethodDependencies } from '@methods/method/compiled-method';
import { isJsonObject, type JsonObject, type JsonValue, ownField } from '@methods/method/json';
import { StepFailure } from '../step-failure.ts';
import { directPackages, unlockedIn } from './npm-packages.ts';

export interface DependencyLock {
  /** npm's own lock file, without the addresses of packages. */
  readonly npm: JsonObject | null;
  readonly pip: readonly LockedPackage[] | null;
  /** The platform for which pip chose its packages; null: it chose none, or the lock does not say. */
  readonly pipPlatform: LockPlatform | null;
}

/** pip chooses for its own machine: others may need further packages, or have none that fit. */
export interface LockPlatform {
  /** For example `3.11`. */
  readonly python: string;
  /** For example `linux-x64`. */
  readonly system: string;
}

export interface LockedPackage extends ExactPackage {
  /** `sha256:` and 64 hex digits; one of them is of the file that a platform uses. */
  readonly hashes: readonly string[];
}

const FORMAT = 'lock/1';
/** The bound of a registry. */
const LOCK_BYTES_MAX = 1024 * 1024;

/** Returns the same bytes for the same lock. Throws StepFailure of kind dependency when it is larger than 1 MiB. */
export function lockBytes({ npm, pip, pipPlatform }: DependencyLock): Uint8Array {
  const listed = pip?.map(({ name, version, hashes }) => ({ name, version, hashes })) ?? null;
  const made = pipPlatform === null ? {} : { pip_platform: { python: pipPlatform.python, system: pipPlatform.system } };
  const bytes = Buffer.from(`${canonicalJson({ format: FORMAT, npm, pip: listed, ...made })}\n`);
  if (bytes.length <= LOCK_BYTES_MAX) return bytes;
  throw new StepFailure('dependency', `The lock of the dependencies has ${bytes.length} bytes; it may have 1 MiB`);
}

/** Other members than ours (such as those of called methods) are ignored. Throws StepFailure of kind dependency. */
export function readLock(bytes: Uint8Array, dependencies: MethodDependencies): DependencyLock {
  const lock = parsed(bytes);
  const npm = ownField(lock, 'npm') ?? null;
  const pip = ownField(lock, 'pip') ?? null;
  if (lock.format !== FORMAT || !(npm === null || isJsonObject(npm)) || !(pip === null || isLockedList(pip))) {
    throw mismatch('it is not of the format lock/1');
  }
  const pipPlatform = platformIn(ownField(lock, 'pip_platform'));
  const locked = { npm: npm as JsonObject | null, pip: pip as readonly LockedPackage[] | null, pipPlatform };
  const direct = locked.npm === null ? [] : directPackages(locked.npm);
  matchPackages(dependencies.npm, new Map(direct.map(({ name, version }) => [name, version])), (name) => name);
  matchPackages(dependencies.pip, new Map(locked.pip?.map(({ name, version }) => [pipName(name), version])), pipName);
  const [extra] = direct.filter(({ name }) => !dependencies.npm.some((it) => it.name === name));
  if (extra !== undefined) throw mismatch(`it has ${extra.name}, which the method does not name`);
  const unlocked = locked.npm === null ? null : unlockedIn(locked.npm);
  if (unlocked !== null) throw mismatch(`${unlocked} has no hash`);
  return locked;
}

/** PyPI treats `-`, `_` and `.` in names as equal; extras are not part of a name. */
export function pipName(name: string): string {
  return name
    .replace(/\[.*/, '')
    .toLowerCase()
    .replace(/[-_.]+/g, '-');
}

function platformIn(value: JsonValue | undefined): LockPlatform | null {
  if (!isJsonObject(value)) return null;
  const { python, system } = value;
  const isWord = (word: JsonValue | undefined): word is string =>
    typeof word === 'string' && /^[\w.-]{1,40}$/.test(word);
  return isWord(python) && isWord(system) ? { python, system } : null;
}

function matchPackages(
  packages: readonly ExactPackage[],
  locked: ReadonlyMap<string, string>,
  sameAs: (name: string) => string,
): void {
  for (const { name, version } of packages) {
    const found = locked.get(sameAs(name));
    if (found === version) continue;
    throw mismatch(`${name} ${version} is ${found === undefined ? 'not locked' : `locked as ${found}`}`);
  }
}

function parsed(bytes: Uint8Array): JsonObject {
  if (bytes.length > LOCK_BYTES_MAX) throw mismatch('it is larger than 1 MiB');
  try {
    const value = JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonValue;
    if (isJsonObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw mismatch('it is not JSON');
}

function isLockedList(value: JsonValue): boolean {
  if (!Array.isArray(value)) return false;
  return value.every(
    (item: JsonValue) =>
      isJsonObject(item) &&
      typeof item.name === 'string' &&
      /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(item.name) &&
      typeof item.version === 'string' &&
      /^[A-Za-z0-9.!+_-]+$/.test(item.version) &&
      Array.isArray(item.hashes) &&
      item.hashes.length > 0 &&
      item.hashes.every((hash) => typeof hash === 'string' && /^sha256:[0-9a-f]{64}$/.test(hash)),
  );
}

function mismatch(what: string): StepFailure {
  return new StepFailure('dependency', `M704: the version's lock does not match its dependencies: ${what}`);
}
