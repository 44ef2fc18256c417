// What an application does with the runs it started.
import { randomUUID } from 'node:crypto';
import type { Run } from '@methods/api/run';
import type { RequestOptions, Requests } from './requests.ts';

export type { Run };

export interface RerunOptions extends RequestOptions {
  readonly idempotencyKey?: string;
  readonly fromStep?: string;
}

export interface AnswerOptions extends RequestOptions {
  /** Default: the question that is open. */
  readonly questionId?: string;
}

export class Runs {
  constructor(private readonly requests: Requests) {}

  get(runId: string, { signal }: RequestOptions = {}): Promise<Run> {
    return this.requests.send({ verb: 'GET', path: runPath(runId), signal });
  }

  cancel(runId: string, { signal }: RequestOptions = {}): Promise<Run> {
    return this.requests.send({ verb: 'POST', path: `${runPath(runId)}/cancel`, signal });
  }

  answer(runId: string, answer: object, { questionId, signal }: AnswerOptions = {}): Promise<Run> {
    const body = { answer, ...(questionId === undefined ? {} : { question_id: questionId }) };
    return this.requests.send({ verb: 'POST', path: `${runPath(runId)}/answer`, body, signal });
  }

  /** Starts a run with the same version and inputs. */
  rerun(runId: string, { idempotencyKey, fromStep, signal }: RerunOptions = {}): Promise<{ readonly run_id: string }> {
    const body = {
      idempotency_key: idempotencyKey ?? randomUUID(),
      ...(fromStep === undefined ? {} : { from_step: fromStep }),
    };
    return this.requests.send({ verb: 'POST', path: `${runPath(runId)}/rerun`, body, signal });
  }
}

export function runPath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}`;
}
