// A lock between processes: a file that names its holder. A holder that ended without releasing it does not block, and
// one that is suspended keeps it. ADR 0037 compares it with a library.
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { isRunning } from './running-process.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

export interface LockFileOptions {
  /** Reports whether the process with this id may be the holder; absent: while it is running. */
  readonly mayHold?: (pid: number) => boolean;
  /**
   * Longer than the work under the lock takes; an older lock was left behind, and its id belongs to another process.
   */
  readonly ageMaxMs?: number;
  /** The file holds only the id: the folder is used by one machine, and others read the id. */
  readonly idOnly?: true;
}

export interface WaitingLockOptions extends LockFileOptions {
  readonly signal?: AbortSignal;
  readonly waitMaxMs: number;
  /** The pause between two tries. */
  readonly againMs: number;
  /** The error to throw after `waitMaxMs`. */
  readonly tooLong: () => Error;
}

export type LockTry =
  | { readonly held: true; readonly release: () => void }
  /** `pid`: the holder; null: it has just released the lock, or its id cannot be read. */
  | { readonly held: false; readonly pid: number | null };

/** `HOST_MAX` of Linux is 64. */
const TEXT_BYTES_MAX = 300;
/** Longer than a holder takes to write its id into a lock. */
const EMPTY_MS = 10_000;
/** A stale lock is removed and taken; another process may be quicker each time. */
const TRIES_MAX = 3;

/**
 * The locks of this process. A file with its id that is not among them was left by an earlier process with the same id.
 */
const heldHere = new Set<string>();

/** Takes the lock if it is free. @throws the system's error if the folder cannot be written */
export function tryLockFile(file: string, options: LockFileOptions = {}): LockTry {
  const path = resolve(file);
  // Writes nothing while another process holds the lock, since this is called repeatedly.
  const holder = holderOf(path);
  if (holder !== null && !isStale(path, options)) return { held: false, pid: holder.pid };
  const own = `${path}.${randomUUID()}`;
  const text = options.idOnly === true ? String(process.pid) : `${process.pid} ${hostname()}`;
  try {
    // A full disk creates the file, and refuses its text.
    writeFileSync(own, text, { flag: 'wx', mode: 0o600 });
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (linked(own, path)) return taken(path);
      if (!removeStale(own, path, options)) break;
    }
    return { held: false, pid: holderOf(path)?.pid ?? null };
  } finally {
    rmSync(own, { force: true });
  }
}

/** Runs `work` while holding the lock. @throws what `work` throws; `tooLong`; the signal's reason */
export async function withLockFile<T>(file: string, options: WaitingLockOptions, work: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + options.waitMaxMs;
  let lock = tryLockFile(file, options);
  while (!lock.held) {
    options.signal?.throwIfAborted();
    if (performance.now() > untilMs) throw options.tooLong();
    await new Promise((again) => setTimeout(again, options.againMs));
    lock = tryLockFile(file, options);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function taken(path: string): LockTry {
  heldHere.add(path);
  const { ino } = statSync(path);
  return {
    held: true,
    release() {
      heldHere.delete(path);
      // A process that found the lock too old has its own lock there.
      if (statSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true });
    },
  };
}

/** A hard link appears with its content or not at all, so no process reads a lock without its holder. */
function linked(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // For example, a memory stick has no hard links.
    if (['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code)) return copied(own, path);
    throw error;
  }
}

/** For a moment the file is empty: see `EMPTY_MS`. */
function copied(own: string, path: string): boolean {
  try {
    writeFileSync(path, readFileSync(own), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/**
 * Only one process at a time removes what another left, so that none removes the lock that followed. Returns false if
 * the lock is held.
 */
function removeStale(own: string, path: string, options: LockFileOptions): boolean {
  if (!isStale(path, options)) return false;
  const removal = `${path}.break`;
  if (!linked(own, removal)) {
    if (isStale(removal, { ageMaxMs: 10_000 })) rmSync(removal, { force: true });
    return true;
  }
  try {
    if (isStale(path, options)) unlinkSync(path);
    return true;
  } catch (error) {
    // What cannot be removed, such as a folder of this name, blocks like a holder.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  } finally {
    rmSync(removal, { force: true });
  }
}

function isStale(path: string, { mayHold = isRunning, ageMaxMs = Number.POSITIVE_INFINITY }: LockFileOptions): boolean {
  const holder = holderOf(path);
  if (holder === null) return false;
  const { pid, host, ageMs, isEmpty } = holder;
  if (isEmpty && ageMs < EMPTY_MS) return false;
  if (ageMs > ageMaxMs || pid === null) return true;
  if (host !== undefined && host !== hostname()) return false;
  if (pid === process.pid) return !heldHere.has(path);
  return !mayHold(pid);
}

interface Holder {
  readonly pid: number | null;
  readonly host: string | undefined;
  readonly ageMs: number;
  readonly isEmpty: boolean;
}

const NO_HOLDER: Holder = { pid: null, host: undefined, ageMs: 0, isEmpty: false };

/** null: there is no lock. A link, a pipe or a device in its place names no holder. */
function holderOf(path: string): Holder | null {
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') return NO_HOLDER;
    throw error;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return NO_HOLDER;
    const bytes = Buffer.alloc(TEXT_BYTES_MAX);
    const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, TEXT_BYTES_MAX, 0));
    const [first = '', host] = text.trim().split(/\s+/);
    const pid = /^[1-9][0-9]*$/.test(first) ? Number(first) : null;
    return { pid, host, ageMs: Date.now() - stats.mtimeMs, isEmpty: text === '' };
  } finally {
    closeSync(file);
  }
}
