// The run's folder and what of it the server has: files are stored before the record that names them is sent, so that
// an acknowledged step never needs to run again for them.
import type { RunFolder } from '@methods/executor/run-folder';

export class SavedFolder {
  /** Empty: nothing was stored. */
  folderId: string;
  private savedBytes: number;

  constructor(
    readonly folder: RunFolder,
    private readonly store: (folder: RunFolder) => Promise<string>,
    known: { readonly folderId: string },
  ) {
    this.folderId = known.folderId;
    this.savedBytes = folder.bytesTotal;
  }

  /** True when there are files the server has not; a run without files never waits here. */
  get changed(): boolean {
    return this.folder.hasFiles() && this.folder.bytesTotal !== this.savedBytes;
  }

  async save(): Promise<void> {
    if (!this.changed) return;
    const bytes = this.folder.bytesTotal;
    this.folderId = await this.store(this.folder);
    this.savedBytes = bytes;
  }
}
