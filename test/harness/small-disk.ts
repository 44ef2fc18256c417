// A small disk that a test can fill: a file system in memory. Available only if this user may mount one.
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from './temp-folder.ts';

export interface SmallDisk {
  readonly path: string;
  /** Fills the disk to its last byte. */
  fill(): void;
  /** Removes what `fill` wrote. */
  free(): void;
  remove(): void;
}

/** Null where mounting is not permitted. */
export function smallDisk(megabytes: number): SmallDisk | null {
  const path = tempFolder('small-disk');
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'small-disk', path]);
  if (mounted.status !== 0) return null;
  const filler = join(path, 'filler');
  const remove = () => void spawnSync('umount', ['-l', path]);
  process.once('exit', remove);
  return {
    path,
    fill() {
      const file = openSync(filler, 'a');
      for (let size = 1 << 20; size >= 1; ) {
        try {
          writeSync(file, Buffer.alloc(size));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          size >>= 1;
        }
      }
      closeSync(file);
    },
    free: () => rmSync(filler, { force: true }),
    remove,
  };
}
