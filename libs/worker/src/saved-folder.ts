// Tracks which revision of the run's folder the server has. Files are stored before the record that names them is sent,
// so an acknowledged step never has to run again for its files.
import type { FolderId } from '@methods/base/ids';
import type { RunFolder } from '@methods/executor/run-folder';

export class SavedFolder {
  private saving: Promise<void> = Promise.resolve();

  private constructor(
    readonly folder: RunFolder,
    private readonly store: (folder: RunFolder) => Promise<FolderId>,
    private storedId: FolderId | '',
    private storedRevision: number,
  ) {}

  /** `folder` matches the server's copy: `folderId` was unpacked into it, or both are empty. */
  static of(folder: RunFolder, folderId: FolderId | '', store: (folder: RunFolder) => Promise<FolderId>): SavedFolder {
    return new SavedFolder(folder, store, folderId, folder.revision);
  }

  /** Empty when nothing was stored. */
  get folderId(): FolderId | '' {
    return this.storedId;
  }

  /**
   * Stores what the server does not have yet. Saves run one at a time and resolve in order, before the next one begins,
   * so records sent after their saves keep their order. A failed save fails all later ones, since their records name
   * its files.
   */
  save(): Promise<void> {
    this.saving = this.saving.then(() => this.saveNow());
    return this.saving;
  }

  private async saveNow(): Promise<void> {
    const { revision } = this.folder;
    if (revision === this.storedRevision) return;
    this.storedId = await this.store(this.folder);
    this.storedRevision = revision;
  }
}
