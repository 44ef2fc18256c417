// The run's folder and what of it the server has: files are stored before the record that names them is sent, so that
// an acknowledged step never needs to run again for them.
import type { RunFolder } from '@methods/executor/run-folder';

export class SavedFolder {
  private saving: Promise<void> = Promise.resolve();

  private constructor(
    readonly folder: RunFolder,
    private readonly store: (folder: RunFolder) => Promise<string>,
    private storedId: string,
    private storedRevision: number,
  ) {}

  /** `folder` is as the server has it: `folderId` was unpacked into it, or it is empty and so is `folderId`. */
  static of(folder: RunFolder, folderId: string, store: (folder: RunFolder) => Promise<string>): SavedFolder {
    return new SavedFolder(folder, store, folderId, folder.revision);
  }

  /** Empty: nothing was stored. */
  get folderId(): string {
    return this.storedId;
  }

  /**
   * Stores what the server has not. Calls take turns, and whoever waits for one goes on before the next begins: what
   * is sent after its save keeps its order. A save that failed fails all that follow, as their records name its files.
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
