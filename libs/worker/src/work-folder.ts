// Owns the folder that holds the run folders of one worker process and is removed at its end. The next start removes
// the folders of killed workers: run files are content and must not accumulate.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { removeFolder } from '@methods/content/folder/remove-folder';

const PREFIX = 'runs-';
/** A worker touches its folder with every heartbeat: after an hour without one it has lost its leases, alive or not. */
const ABANDONED_MS = 3_600_000;

export class WorkFolder {
  private made = '';

  constructor(private readonly dataDir: string) {}

  /** Valid only after `start`. */
  get dir(): string {
    return this.made;
  }

  start(): void {
    mkdirSync(this.dataDir, { recursive: true });
    this.made = mkdtempSync(join(this.dataDir, PREFIX));
  }

  /** Marks the worker as alive. */
  async touch(): Promise<void> {
    const now = new Date();
    // If the folder was removed, the first file of a run creates it again.
    await utimes(this.made, now, now).catch(() => {});
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
    await removeFolder(this.made);
  }
}
