// Writes files that must never be seen half written, not even after a power failure: the link file, an app's `.env`,
// and the user's own files.

import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Longer than writing one of our files takes: older ones were left by a killed process. */
const LEFT_MS = 60_000;

/**
 * Replaces the content atomically and syncs it before it returns. Links stay links, and a file keeps its mode; `mode`
 * is for a new one.
 */
export async function writeWhole(path: string, content: string | Buffer, mode = 0o644): Promise<void> {
  const target = await realpath(path).catch(() => path);
  await replace(target, `${target}.${process.pid}`, content, mode);
}

/**
 * The same for content that git must not add. A killed process leaves its new text beside the file, under a name that
 * no `.gitignore` has; so it is in a folder that only its owner can read and git ignores. The next call removes it.
 */
export async function writeSecretWhole(path: string, content: string | Buffer, mode = 0o600): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const prefix = `${target}.new-`;
  await removeLeft(prefix);
  const folder = await mkdtemp(prefix);
  try {
    await writeFile(join(folder, '.gitignore'), '*\n');
    await replace(target, join(folder, basename(target)), content, mode);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function replace(target: string, besides: string, content: string | Buffer, mode: number): Promise<void> {
  const kept = await stat(target).then(
    (found) => found.mode & 0o777,
    () => mode,
  );
  try {
    const file = await open(besides, 'w', kept);
    try {
      // A umask restricts the mode given to `open`; the replaced file may have had more rights.
      await file.chmod(kept);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(besides, target);
  } catch (error) {
    await rm(besides, { force: true });
    throw error;
  }
}

async function removeLeft(prefix: string): Promise<void> {
  const beside = dirname(prefix);
  for (const name of await readdir(beside)) {
    if (!name.startsWith(basename(prefix)) || name.length !== basename(prefix).length + 6) continue;
    const path = join(beside, name);
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory() && Date.now() - found.mtimeMs > LEFT_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Mode 0600 in a folder of mode 0700. A concurrent reader gets the old text or the new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${randomUUID()}`;
  try {
    const file = await open(fresh, 'wx', 0o600);
    try {
      await file.writeFile(text);
      // A used refresh token must not come back after a power failure.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
