// Checks of values that take more than a turn of the event loop, on threads: each with an end, and by turns of the
// organizations.
import type { OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import type { ValueCheck } from '@methods/method/check-value';
import type { JsonValue } from '@methods/method/json';
import { JobFailed, type JobLimits } from '@methods/threads/job-thread';
import { ThreadPool } from '@methods/threads/thread-pool';
import type { ValueJob, ValueReply } from './checked-fully.ts';

export interface CostlyValue extends ValueJob {
  readonly orgId: OrgId;
}

const BODY = new URL('./value-thread.ts', import.meta.url);

export class ValueThreads implements Stoppable {
  private readonly pool: ThreadPool<ValueJob, ValueReply>;

  constructor(limits: Partial<JobLimits> = {}) {
    this.pool = new ThreadPool({ body: BODY, jobsName: 'waiting checks of values', limits });
  }

  stop(): Promise<void> {
    return this.pool.stop();
  }

  /** @throws ServiceError rate_limited for an organization with its share waiting, unavailable. */
  async check({ orgId, ...job }: CostlyValue): Promise<ValueCheck> {
    try {
      const reply = await this.pool.run(job, { orgId, bytes: job.valueJson.length });
      return reply.ok ? { ok: true, value: JSON.parse(reply.valueJson) as JsonValue } : reply;
    } catch (error) {
      if (!(error instanceof JobFailed) || error.fault === 'broke_down') throw error;
      const message = 'takes more work to check than one value may';
      return { ok: false, reason: 'too_costly', findings: [{ path: '', code: 'too_costly', message }] };
    }
  }
}
