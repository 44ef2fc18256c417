// Checks what callers send, outside of the event loop: the registry's threads, and what a fault of one means for its
// caller.
import type { OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { type Finding, ServiceError } from '@methods/errors/service-error';
import { JobFailed, type JobLimits } from '@methods/threads/job-thread';
import { ThreadPool } from '@methods/threads/thread-pool';
import { checkInspectionSize, type Inspection, inspection, type ReadInspection } from '../local-run/local-run.ts';
import type { Callees, SourceVerdict } from './method-source.ts';
import type { SourceJob, SourceReply } from './source-thread.ts';

/** The caller for whom a text is checked; one that has disconnected gives up its place in the queue. */
export interface ForCaller {
  readonly orgId: OrgId;
  readonly signal?: AbortSignal;
}

const BODY = new URL('./source-thread.ts', import.meta.url);

export class SourceThreads implements Stoppable {
  private readonly pool: ThreadPool<SourceJob, SourceReply>;

  constructor(limits: Partial<JobLimits> = {}) {
    this.pool = new ThreadPool({ body: BODY, jobsName: 'waiting checks of sources and records', limits });
  }

  stop(): Promise<void> {
    return this.pool.stop();
  }

  /**
   * Returns the findings that saving would have. A source that takes too much time or memory to check has a finding.
   * The caller checks its size. @throws ServiceError rate_limited, unavailable.
   */
  async judge(bytes: Uint8Array, callees: Callees, { orgId, signal }: ForCaller): Promise<SourceVerdict> {
    try {
      const job = { kind: 'source', bytes, callees } as const;
      return (await this.run(job, bytes.length, { orgId, ...(signal && { signal }) })) as SourceVerdict;
    } catch (error) {
      return { findings: [tooExpensive(error, 'this source', '')], facts: null, needed: [] };
    }
  }

  /** @throws ServiceError too_large, invalid_request, rate_limited, unavailable. */
  async inspect(json: string, { orgId, signal }: ForCaller): Promise<Inspection> {
    checkInspectionSize(json);
    try {
      const read = await this.run({ kind: 'inspection', json }, json.length, { orgId, ...(signal && { signal }) });
      return inspection(json, read as ReadInspection);
    } catch (error) {
      throw new ServiceError('invalid_request', undefined, {
        findings: [tooExpensive(error, 'this inspection', '/inspection')],
      });
    }
  }

  private run(job: SourceJob, bytes: number, caller: ForCaller): Promise<SourceReply> {
    return this.pool.run(job, { ...caller, bytes });
  }
}

/** @throws the error itself, unless the text is its cause. */
function tooExpensive(error: unknown, what: string, path: string): Finding {
  if (!(error instanceof JobFailed)) throw error;
  switch (error.fault) {
    case 'too_long':
      return finding(path, 'check_time', `Checking ${what} takes too long: make it simpler.`);
    case 'too_much_memory':
      return finding(path, 'check_memory', `Checking ${what} takes too much memory: make it simpler.`);
    case 'too_slow':
    case 'broke_down':
      throw new ServiceError('internal', undefined, { cause: error });
  }
}

function finding(path: string, code: string, message: string): Finding {
  return { path, code, message, severity: 'error' };
}
