// Derives forms on threads, by turns of the organizations.
import type { Stoppable } from '@methods/base/stoppable';
import { ThreadPool } from '@methods/threads/thread-pool';
import type { DerivedForm, FormJob } from './derived-form.ts';

const BODY = new URL('./form-thread.ts', import.meta.url);

export class FormThreads implements Stoppable {
  private readonly pool = new ThreadPool<FormJob, DerivedForm>({ body: BODY, jobsName: 'forms of questions' });

  start(): void {
    this.pool.start();
  }

  stop(): Promise<void> {
    return this.pool.stop();
  }

  /** @throws JobFailed for a source that takes too much. ServiceError rate_limited, unavailable. */
  derive(orgId: string, source: Uint8Array, path: string): Promise<DerivedForm> {
    return this.pool.run({ source, path }, { orgId, bytes: source.length });
  }
}
