// Reads the sources of saved versions: short ones at once, long ones in a thread, outside of the event loop.
import type { OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import type { JsonObject } from '@methods/method/json';
import { JobFailed } from '@methods/threads/job-thread';
import { ThreadPool } from '@methods/threads/thread-pool';
import { interfaceFieldsJson, type StartFacts } from './read-source.ts';
import type { SourceJob, SourceReply } from './source-thread.ts';

export interface SavedSource {
  readonly orgId: OrgId;
  /** Hex, of `source`. */
  readonly sha256: string;
  readonly source: Uint8Array;
}

/** Longer ones may take more than a turn of the event loop. */
const SHORT_BYTES = 4 * 1024;
const BODY = new URL('./source-thread.ts', import.meta.url);
/** Starts of one organization may come many at once, each with its inputs. */
const SHARES = { small: 256, large: 64 };

export function isShort({ source }: Pick<SavedSource, 'source'>): boolean {
  return source.length <= SHORT_BYTES;
}

export class SourceThreads implements Stoppable {
  private readonly pool = new ThreadPool<SourceJob, SourceReply>({
    body: BODY,
    jobsName: 'waiting readings of sources',
    shares: SHARES,
  });

  stop(): Promise<void> {
    return this.pool.stop();
  }

  /** JSON of a `SourceInterface` without its braces; empty for workflow/1, and if finding out takes too long. */
  async interfaceFieldsJson({ orgId, source }: Omit<SavedSource, 'sha256'>): Promise<string> {
    if (isShort({ source })) return interfaceFieldsJson(source);
    try {
      return (await this.run({ kind: 'interface', source }, orgId)) as string;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'invalid_method') return '';
      throw error;
    }
  }

  /** @throws ServiceError invalid_method if finding out takes too long, rate_limited, unavailable. */
  async startFacts({ orgId, sha256, source }: SavedSource): Promise<StartFacts> {
    return (await this.run({ kind: 'start', sha256, source }, orgId)) as StartFacts;
  }

  /**
   * Returns the sentences of the method's `require` checks that the inputs do not meet. @throws ServiceError as
   * `startFacts`.
   */
  async unmet({ orgId, sha256, source }: SavedSource, inputs: JsonObject): Promise<readonly string[]> {
    return (await this.run({ kind: 'unmet', sha256, source, inputs }, orgId)) as readonly string[];
  }

  private async run(job: SourceJob, orgId: OrgId): Promise<SourceReply> {
    try {
      return await this.pool.run(job, { orgId, bytes: job.source.length });
    } catch (error) {
      if (!(error instanceof JobFailed)) throw error;
      const isTooExpensive = error.fault === 'too_long' || error.fault === 'too_much_memory';
      throw isTooExpensive
        ? new ServiceError('invalid_method', 'The version takes too long to read: save a simpler one.')
        : new ServiceError('internal', undefined, { cause: error });
    }
  }
}
