// Stores built code between starts: a folder for each state of the sources, by their key. A folder is created beside
// its location and moved there whole, so any number of processes may look and build at once.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { placesOf } from './config.mjs';
import { readSources } from './sources.mjs';

const BUILD = fileURLToPath(new URL('../src/build-process.ts', import.meta.url));
/** Exit code of a build whose sources are faulty, which has reported the fault. */
const FAULTY_SOURCES = 2;
/** Written last. */
const MANIFEST = 'built.json';
const UNFINISHED = 'unfinished-';
const TRIES_MAX = 5;
const KEPT_MIN = 4;
const UNUSED_MS_MAX = 3_600_000;
/** A process in the middle of its life reads threads' code, and starts processes. */
const USE_EVERY_MS = 600_000;

/** One sentence for a person. */
export class BuildFailed extends Error {
  name = 'BuildFailed';
}

/**
 * Returns built code of the present sources, and the files of its entries by the path of their source.
 * @param {string} root
 * @returns {{ folder: string, entries: Record<string, string> }}
 * @throws {BuildFailed}
 */
export function builtCode(root) {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { key, files } = readSources(root);
    const places = placesOf(root);
    for (const place of places) {
      const built = read(join(place, key));
      if (built !== null) return used(built);
    }
    const made = makeSomewhere(places, root, files);
    // Edited during the build: it is unknown which state this is.
    if (readSources(root).key === key) return used(kept(made, key));
    remove(made.folder);
  }
  throw new BuildFailed('The code cannot be built: its sources keep changing.');
}

/** Null: missing or incomplete, since a cleaner of old files may have been in it. */
function read(folder) {
  try {
    if (!isOurs(folder)) return null;
    const { entries, bytes } = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8'));
    const isWhole = Object.entries(bytes).every(([name, size]) => statSync(join(folder, name)).size === size);
    return isWhole ? { folder, entries } : null;
  } catch {
    return null;
  }
}

/** A folder that others may write may contain their code. */
function isOurs(folder) {
  const { uid, mode } = lstatSync(folder);
  return (process.getuid === undefined || uid === process.getuid()) && (mode & 0o170022) === 0o040000;
}

function makeSomewhere(places, root, files) {
  const failures = [];
  for (const place of places) {
    const folder = join(place, `${UNFINISHED}${randomBytes(8).toString('hex')}`);
    try {
      mkdirSync(place, { recursive: true, mode: 0o700 });
      if (!isOurs(place)) throw new Error('it is another user’s, or others may write in it');
      mkdirSync(folder, { mode: 0o700 });
      return make(folder, root, files);
    } catch (error) {
      remove(folder);
      if (error instanceof BuildFailed) throw error;
      failures.push(`${place}: ${error.message}`);
    }
  }
  throw new BuildFailed(`The built code cannot be kept anywhere.\n${failures.join('\n')}`);
}

/** Runs in a separate process, so that the memory of a build is freed with it. */
function make(folder, root, files) {
  const args = ['--import', tsx(), BUILD, root, folder];
  // Standard output is for the program that is run.
  const stdio = ['pipe', 2, 'pipe'];
  const { status, signal, stderr } = spawnSync(process.execPath, args, { input: files.join('\n'), stdio });
  const said = stderr.toString().trim();
  if (status === FAULTY_SOURCES) throw new BuildFailed(`The code cannot be built.\n${said}`);
  const built = status === 0 ? read(folder) : null;
  if (built === null) throw new Error(said || `the build ended with ${status ?? signal}`);
  return built;
}

function tsx() {
  try {
    return import.meta.resolve('tsx');
  } catch {
    throw new BuildFailed('The packages of this checkout are not installed: run  npm ci  first.');
  }
}

/** Returns its location, or the folder that another process has put there meanwhile. */
function kept({ folder, entries }, key) {
  const place = join(folder, '..');
  const own = join(place, key);
  try {
    renameSync(folder, own);
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    const others = read(own);
    if (others === null) {
      const broken = `${folder}-broken`;
      renameSync(own, broken);
      renameSync(folder, own);
      remove(broken);
    } else {
      remove(folder);
    }
  }
  removeOld(place, own);
  return { folder: own, entries };
}

function removeOld(place, own) {
  const others = readdirSync(place)
    .map((name) => join(place, name))
    .filter((folder) => folder !== own)
    .flatMap((folder) => {
      try {
        return [{ folder, usedMs: statSync(folder).mtimeMs }];
      } catch {
        // Another build has just removed it.
        return [];
      }
    })
    .sort((a, b) => b.usedMs - a.usedMs);
  for (const [at, { folder, usedMs }] of others.entries()) {
    const spared = at < KEPT_MIN - 1 && !folder.includes(UNFINISHED);
    if (spared || Date.now() - usedMs < UNUSED_MS_MAX) continue;
    remove(folder);
  }
}

function remove(folder) {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Not ours to remove, or another process is removing it.
  }
}

function used(built) {
  const use = () => {
    try {
      utimesSync(built.folder, new Date(), new Date());
    } catch {
      // It was removed; the next start builds it again.
    }
  };
  use();
  setInterval(use, USE_EVERY_MS).unref();
  return built;
}
