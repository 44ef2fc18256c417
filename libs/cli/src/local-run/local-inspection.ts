// A local run as one document, like the one a worker sends for a run on a server.
import type { LocalVersionId, VersionId } from '@methods/base/ids';
import { inspectionOf } from '@methods/executor/inspection';
import type { JsonObject } from '@methods/method/json';
import { VERSION } from '../version.ts';
import type { WalkedRun } from './local-walk.ts';

export const LOCAL_WORKER = { id: 'local', version: VERSION, platform: `${process.platform}-${process.arch}` };

/** `versionId`: that of the server if the file is a version saved there, else the file's own. */
export function localInspection(
  run: WalkedRun,
  versionId: VersionId | LocalVersionId,
  lockSha256: string | null,
): JsonObject {
  const { record } = run;
  const question = run.status === 'waiting' ? run.question : null;
  const askedAtMs = question === null ? 0 : Date.parse(question.asked_at);
  return inspectionOf({
    runId: record.run_id,
    versionId,
    sha256: record.sha256,
    lockSha256,
    status: record.status,
    attempt: record.attempt,
    startedAtMs: Date.parse(record.started_at),
    endedAtMs: record.ended_at === null ? null : Date.parse(record.ended_at),
    worker: LOCAL_WORKER,
    records: run.records,
    open: question === null ? [] : [{ path: question.step, kind: 'ask', status: 'waiting', startedAtMs: askedAtMs }],
    question: question === null ? null : askedAgain(question, askedAtMs),
    result: run.status === 'succeeded' ? run.result : null,
    error: run.status === 'failed' ? run.error : null,
  });
}

function askedAgain(question: (WalkedRun & { status: 'waiting' })['question'], askedAtMs: number) {
  const { step, prompt, details, show, form, deadline_at, timeout } = question;
  return {
    ...{ step, prompt, show, form, askedAtMs },
    ...(details === null ? {} : { details }),
    ...(deadline_at === null ? {} : { timeoutMs: Date.parse(deadline_at) - askedAtMs }),
    ...(timeout === null ? {} : { timeoutText: timeout }),
  };
}
