// Removes the bytes of uploads whose link expired and was not renewed, so that unfinished uploads occupy no storage.

import { type Clock, systemClock, type Timer } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import type { BlobStore } from '@methods/blobs/blob-store';
import type { Logger } from '@methods/logging/logger';
import type { UploadStore } from '../store/upload-store.ts';

/** No one waits for it, and bucket storage is billed by the day. */
const EVERY_MS = 600_000;
const AT_ONCE_MAX = 100;
/** After a sweep that left some. */
const BETWEEN_MS = 1_000;

export interface AbandonedUploadsOptions {
  readonly uploads: UploadStore;
  readonly blobs: BlobStore;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
}

export class AbandonedUploads implements Stoppable {
  private timer: Timer | null = null;
  private stopped = false;
  private sweeping: Promise<void> | null = null;

  constructor(private readonly options: AbandonedUploadsOptions) {}

  start(): void {
    this.later(EVERY_MS);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.sweeping;
  }

  private later(delayMs: number): void {
    this.timer = (this.options.clock ?? systemClock).after(delayMs, () => {
      this.sweeping = this.sweep().then((more) => {
        if (!this.stopped) this.later(more ? BETWEEN_MS : EVERY_MS);
      });
    });
  }

  /**
   * Returns whether more may be removed at once. A later sweep retries failures; an upload names its blob until all of
   * it is removed.
   */
  async sweep(): Promise<boolean> {
    const { uploads, blobs, logger } = this.options;
    try {
      for (let count = 0; count < AT_ONCE_MAX && !this.stopped; count++) {
        const abandoned = await uploads.nextAbandoned();
        if (abandoned === null) return false;
        await blobs.remove(abandoned);
        await uploads.forgetAbandoned(abandoned);
        logger.info({ org_id: abandoned.orgId, upload_id: abandoned.uploadId }, 'abandoned upload removed');
      }
      return true;
    } catch (error) {
      this.options.logger.warn({ error }, 'abandoned uploads stay for now');
      return false;
    }
  }
}
