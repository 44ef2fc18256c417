// Where the run folders of one worker process stand: a folder of its own, removed at its end. What killed workers left
// beside it goes at the next start: files of runs are content and must not pile up.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { removeFolder } from '@methods/content/folder/remove-folder';

const PREFIX = 'runs-';
/** A worker touches its folder with every heartbeat: one silent for so long has lost its leases, alive or not. */
const ABANDONED_MS = 3_600_000;

export class WorkFolder {
  private made = '';

  constructor(private readonly dataDir: string) {}

  /** Only after `start`. */
  get dir(): string {
    return this.made;
  }

  start(): void {
    mkdirSync(this.dataDir, { recursive: true });
    this.made = mkdtempSync(join(this.dataDir, PREFIX));
  }

  /** Says that its worker lives. */
  async touch(): Promise<void> {
    const now = new Date();
    // Where somebody has removed it, the first file of a run makes it again.
    await utimes(this.made, now, now).catch(() => {});
  }

  /** Rejects when the data folder cannot be read. */
  async removeAbandoned(): Promise<void> {
    for (const name of await readdir(this.dataDir)) {
      if (!name.startsWith(PREFIX)) continue;
      const path = join(this.dataDir, name);
      // Null: another worker that starts now was faster.
      const info = await stat(path).catch(() => null);
      if (info === null || Date.now() - info.mtimeMs < ABANDONED_MS) continue;
      await removeFolder(path);
    }
  }

  async stop(): Promise<void> {
    await removeFolder(this.made);
  }
}
