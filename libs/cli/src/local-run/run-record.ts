// `run.json`: a local run and its state. Written by rename, so that a reader never sees a partial file.
import type { LocalVersionId, QuestionId, RunId, VersionId } from '@methods/base/ids';
import type { RunError, RunQuestion } from '@methods/executor/run-outcome';
import type { RefusedAnswer } from '@methods/method/answer-checks';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { readRunText } from './run-files.ts';

/** `running` even if its process died or was interrupted: such a run can be resumed. */
export type LocalRunStatus = 'running' | 'waiting' | 'succeeded' | 'failed';

export interface LocalRunRecord {
  readonly format: 'local-run/1';
  readonly run_id: RunId;
  /** The method's name. */
  readonly method: string;
  /** The path of the method when the run began; the run itself uses its own copy. */
  readonly file: string;
  /** Of the method's bytes, hex. */
  readonly sha256: string;
  readonly version_id: VersionId | LocalVersionId;
  readonly status: LocalRunStatus;
  /** The number of processes that worked on the run. */
  readonly attempt: number;
  /** The time spent walking, in all attempts together. */
  readonly ran_ms: number;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly question: LocalQuestion | null;
  readonly error: RunError | null;
}

/** An open question, in the form of the API. */
export interface LocalQuestion {
  readonly id: QuestionId;
  readonly step: string;
  readonly prompt: string;
  readonly details: string | null;
  readonly show: RunQuestion['show'];
  readonly form: RunQuestion['form'];
  readonly asked_at: string;
  readonly deadline_at: string | null;
  /** The deadline as the method spells it. */
  readonly timeout: string | null;
  /** The other values that checks of the answer read; absent: there are none, or they are too large. */
  readonly ensure_scope?: JsonObject;
  /** The checks that the last answer did not meet. */
  readonly refused?: readonly RefusedAnswer[];
}

/** Null: there is no such file. Throws for a file that is not a record of a run. */
export async function readRunRecord(runDir: string): Promise<LocalRunRecord | null> {
  const text = await readRunText(runDir, 'run.json');
  if (text === null) return null;
  const record = JSON.parse(text) as JsonValue;
  if (!isJsonObject(record) || record.format !== 'local-run/1') throw new SyntaxError('not a record of a local run');
  return record as unknown as LocalRunRecord;
}

export function localQuestion(id: QuestionId, question: RunQuestion, askedAtMs: number): LocalQuestion {
  const { step, prompt, details, show, form, timeoutMs, timeoutText, ensureScope, refused } = question;
  return {
    id,
    step,
    prompt,
    details: details ?? null,
    show,
    form,
    asked_at: new Date(askedAtMs).toISOString(),
    deadline_at: timeoutMs === undefined ? null : new Date(askedAtMs + timeoutMs).toISOString(),
    timeout: timeoutText ?? null,
    ...(ensureScope === undefined ? {} : { ensure_scope: ensureScope }),
    ...(refused === undefined ? {} : { refused }),
  };
}
