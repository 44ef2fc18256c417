// Deletes files that no run names, page by page: run folders from the oldest on, each checked once when it is a day old
// and again after this node has restarted; and expired files of callers.
import type { Logger } from '@methods/logging/logger';
import type { FileStore } from '../store/file-store.ts';
import type { FolderPlace, RunFolderStore } from '../store/run-folder-store.ts';

export class FolderSweep {
  private place: FolderPlace = { createdAtMs: 0, folderId: '', orgId: '' };
  private sweeping = false;

  constructor(
    private readonly options: {
      readonly folders: Pick<RunFolderStore, 'sweep'>;
      readonly files: Pick<FileStore, 'sweep'>;
      readonly logger: Logger;
    },
  ) {}

  /** Called on a coarse tick; continues where the last sweep ended or failed. */
  async sweep(): Promise<void> {
    if (this.sweeping) return;
    this.sweeping = true;
    let [lookedAt, removed] = [0, 0];
    try {
      for (let more = true; more; ) {
        const page = await this.options.folders.sweep(this.place);
        this.place = page.place;
        lookedAt += page.lookedAt;
        removed += page.removed;
        more = page.more;
      }
      if (removed > 0) this.options.logger.info({ lookedAt, removed }, 'run folders swept');
    } catch (error) {
      this.options.logger.warn(
        { error, lookedAt, removed },
        'run folders could not be swept; the next sweep continues',
      );
    }
    await this.sweepFiles();
    this.sweeping = false;
  }

  private async sweepFiles(): Promise<void> {
    try {
      while (await this.options.files.sweep());
    } catch (error) {
      this.options.logger.warn({ error }, 'files could not be swept; the next sweep continues');
    }
  }
}
