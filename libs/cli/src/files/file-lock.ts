// A lock between processes of one user: for changes of sign-ins and of link files.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { withLockFile } from '@methods/base/lock-file';
import { CommandError } from '../errors/command-error.ts';

/** Longer than the work under any lock takes: after that its holder's id belongs to another process. */
const AGE_MAX_MS = 120_000;
const WAIT_MAX_MS = 150_000;
const AGAIN_MS = 25;

/** @throws CommandError `locked` after 150 s; what `work` throws; the signal's reason. */
export async function withFileLock<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const tooLong = () =>
    new CommandError('locked', `another process holds ${path}`, { hint: 'end it, or remove the file' });
  const options = { signal, ageMaxMs: AGE_MAX_MS, waitMaxMs: WAIT_MAX_MS, againMs: AGAIN_MS, tooLong };
  return withLockFile(path, options, work);
}
