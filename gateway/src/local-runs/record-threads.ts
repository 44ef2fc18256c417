// Reads the bodies of local runs' records: small ones at once, large ones in a thread, apart from the event loop.
import type { OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import { JobFailed } from '@methods/threads/job-thread';
import { ThreadPool } from '@methods/threads/thread-pool';
import { type RecordReading, readRecord } from './read-record.ts';
import type { RecordJob } from './record-thread.ts';

/** Read within 5 ms. */
const SMALL_BYTES = 64 * 1024;

export class RecordThreads implements Stoppable {
  private readonly pool = new ThreadPool<RecordJob, RecordReading>({
    body: new URL('./record-thread.ts', import.meta.url),
    jobsName: 'waiting records of runs',
  });

  stop(): Promise<void> {
    return this.pool.stop();
  }

  /** @throws ServiceError too_large if reading takes too long, rate_limited, unavailable */
  async read(orgId: OrgId, bytes: Buffer, weightMax: number): Promise<RecordReading> {
    if (bytes.length <= SMALL_BYTES) return readRecord(bytes, weightMax);
    try {
      return await this.pool.run({ bytes, weightMax }, { orgId, bytes: bytes.length });
    } catch (error) {
      if (!(error instanceof JobFailed)) throw error;
      if (error.fault === 'too_slow') throw new ServiceError('unavailable', undefined, { cause: error });
      const isTooExpensive = error.fault === 'too_long' || error.fault === 'too_much_memory';
      throw isTooExpensive
        ? new ServiceError('too_large', 'The body takes too long to read.')
        : new ServiceError('internal', undefined, { cause: error });
    }
  }
}
