// Files that must never be seen half written, also not after a power cut: the link file and an app's `.env`.
import { open, realpath, rename, rm, stat } from 'node:fs/promises';

/**
 * Replaces the content at once and puts it on the disk before it returns. Links stay links, and a file keeps its mode;
 * `mode` is a new one's.
 */
export async function writeWhole(path: string, content: string | Buffer, mode = 0o644): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const kept = await stat(target).then(
    (found) => found.mode & 0o777,
    () => mode,
  );
  const besides = `${target}.${process.pid}`;
  try {
    const file = await open(besides, 'w', kept);
    try {
      // A umask narrows what `open` was asked for; the file that is replaced may have had more.
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
