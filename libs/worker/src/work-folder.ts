// Owns the folder that holds the run folders and runners of one worker process and is removed at its end. The next start
// removes the folders of killed workers: files of runs are content and must not accumulate.
import { mkdirSync } from 'node:fs';
import { readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { randomToken } from '@methods/base/ids';
import { removeFolder } from '@methods/content/folder/remove-folder';

const PREFIX = 'runs-';
/** A worker touches its folder with every heartbeat: after an hour without one it has lost its leases, alive or not. */
const ABANDONED_MS = 3_600_000;

export class WorkFolder {
  readonly dir: string;

  constructor(private readonly dataDir: string) {
    this.dir = join(dataDir, `${PREFIX}${randomToken().slice(0, 8)}`);
  }

  start(): void {
    mkdirSync(this.dataDir, { recursive: true });
    mkdirSync(this.dir, { mode: 0o700 });
  }

  /** Marks the worker as alive. */
  async touch(): Promise<void> {
    const now = new Date();
    // If the folder was removed, the first file of a run creates it again.
    await utimes(this.dir, now, now).catch(() => {});
  }

  /** Rejects when the data folder cannot be read. */
  async removeAbandoned(): Promise<void> {
    for (const name of await readdir(this.dataDir)) {
      if (!name.startsWith(PREFIX)) continue;
      const path = join(this.dataDir, name);
      // Null: another starting worker removed it first.
      const info = await stat(path).catch(() => null);
      if (info === null || Date.now() - info.mtimeMs < ABANDONED_MS) continue;
      await removeFolder(path);
    }
  }

  async stop(): Promise<void> {
    await removeFolder(this.dir);
  }
}
