// Derives forms and judges answers on threads; organizations take turns.
import type { OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { ThreadPool } from '@methods/threads/thread-pool';
import type { AnswerJob, DerivedForm, FormJob } from './derived-form.ts';

const BODY = new URL('./form-thread.ts', import.meta.url);

export class FormThreads implements Stoppable {
  private readonly pool = new ThreadPool<FormJob | AnswerJob, DerivedForm | string[]>({
    body: BODY,
    jobsName: 'forms of questions',
  });

  stop(): Promise<void> {
    return this.pool.stop();
  }

  /** @throws JobFailed for a source that takes too much. ServiceError rate_limited, unavailable. */
  async derive(orgId: OrgId, source: Uint8Array, path: string): Promise<DerivedForm> {
    return (await this.pool.run({ kind: 'form', source, path }, { orgId, bytes: source.length })) as DerivedForm;
  }

  /** Returns a sentence for each check that the answer fails. @throws as `derive`. */
  async judge(orgId: OrgId, job: Omit<AnswerJob, 'kind'>): Promise<readonly string[]> {
    const bytes = job.source.length + job.scopeJson.length + job.answerJson.length;
    return (await this.pool.run({ kind: 'answer', ...job }, { orgId, bytes })) as string[];
  }
}
