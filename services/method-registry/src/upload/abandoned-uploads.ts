// Removes the bytes of uploads whose link ran out and was not renewed: whoever never sends the rest keeps nothing here.

import { type Clock, systemClock, type Timer } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import type { BlobStore } from '@methods/blobs/blob-store';
import type { Logger } from '@methods/logging/logger';
import type { UploadStore } from '../store/upload-store.ts';

/** Nobody waits for it, and a bucket's bill is by the day. */
const EVERY_MS = 600_000;
const AT_ONCE_MAX = 100;

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
    this.timer = (this.options.clock ?? systemClock).after(EVERY_MS, () => {
      this.sweeping = this.sweep().then(() => {
        if (!this.stopped) this.start();
      });
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.sweeping;
  }

  /** Of what fails the next sweep begins again; a blob stays named in its upload until all of it is gone. */
  async sweep(): Promise<void> {
    const { uploads, blobs, logger } = this.options;
    try {
      for (let count = 0; count < AT_ONCE_MAX && !this.stopped; count++) {
        const abandoned = await uploads.nextAbandoned();
        if (abandoned === null) return;
        await blobs.remove(abandoned);
        await uploads.forgetAbandoned(abandoned);
        logger.info({ org_id: abandoned.orgId, upload_id: abandoned.uploadId }, 'abandoned upload removed');
      }
    } catch (error) {
      this.options.logger.warn({ error }, 'abandoned uploads stay for now');
    }
  }
}
