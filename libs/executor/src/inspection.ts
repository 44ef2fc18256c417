// The whole state of a run as one document, `inspection/1`: actions and checks in separate lists, at most 4 MiB.
import type { LocalVersionId, RunId, VersionId } from '@methods/base/ids';
import { textEnd } from '@methods/method/cut-text';
import type { JsonObject, JsonValue } from '@methods/method/json';
import type { CheckRecord, RunError, RunQuestion, StepEnd, StepTry } from './run-outcome.ts';
import { stepKey } from './step-context.ts';

const BYTES_MAX = 4 * 1024 * 1024;
const TAIL_LINES_MAX = 20;
const TAIL_CHARACTERS_MAX = 4096;
/** The newest of each; more steps or checks do not fit. */
const ENTRIES_MAX = 4000;

export interface InspectedRun {
  readonly runId: RunId;
  readonly versionId: VersionId | LocalVersionId;
  /** Of the source, hex. */
  readonly sha256: string;
  readonly lockSha256: string | null;
  readonly status: 'queued' | 'running' | 'waiting' | 'sleeping' | 'succeeded' | 'failed' | 'cancelled';
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly worker: { readonly id: string; readonly version: string; readonly platform: string };
  /** All records so far, in order; a record of the same path replaces the one before. */
  readonly records: readonly StepEnd[];
  /** Steps that run or wait at this moment. */
  readonly open: readonly {
    readonly path: string;
    readonly kind: string;
    readonly status: 'running' | 'waiting';
    readonly startedAtMs: number;
  }[];
  readonly question: (RunQuestion & { readonly askedAtMs: number }) | null;
  readonly result: JsonObject | null;
  readonly error: RunError | null;
}

/** The parts to leave out, in this order, until the document is small enough. */
const CUTS = ['nothing', 'logs', 'outs', 'values'] as const;
type Cut = (typeof CUTS)[number];

/** Everything in it is already masked. `cut` lists what was left out to stay within 4 MiB. */
export function inspectionOf(run: InspectedRun): JsonObject {
  const records = [...new Map(run.records.map((record) => [record.path, record])).values()];
  let document: JsonObject = {};
  for (const cut of CUTS) {
    document = documentOf(run, records, cut);
    if (Buffer.byteLength(JSON.stringify(document)) <= BYTES_MAX) return document;
  }
  return documentOf({ ...run, result: null }, records.slice(-ENTRIES_MAX), 'values', ENTRIES_MAX);
}

function documentOf(run: InspectedRun, records: readonly StepEnd[], cut: Cut, checksMax?: number): JsonObject {
  const level = CUTS.indexOf(cut);
  const actions = records.filter(({ kind }) => kind !== 'check').map((record) => actionOf(run.runId, record, level));
  const checks = records.flatMap(({ path, checks: own }) => own.map((check) => checkOf(path, check, level)));
  const { worker, error } = run;
  return {
    format: 'inspection/1',
    run_id: run.runId,
    version_id: run.versionId,
    sha256: run.sha256,
    lock_sha256: run.lockSha256,
    status: run.status,
    attempt: run.attempt,
    started_at: timeText(run.startedAtMs),
    finished_at: run.endedAtMs === null ? null : timeText(run.endedAtMs),
    worker: { id: worker.id, version: worker.version, platform: worker.platform },
    actions: [...actions, ...run.open.map((step) => openAction(run.runId, step))],
    checks: checksMax === undefined ? checks : checks.slice(-checksMax),
    question: run.question === null ? null : questionOf(run.question),
    result: run.result,
    error:
      error === null ? null : { code: error.code, kind: error.kind, step: error.step ?? null, message: error.message },
    ...(cut === 'nothing' ? {} : { cut: CUTS.slice(1, level + 1) }),
  };
}

function actionOf(runId: RunId, record: StepEnd, level: number): JsonObject {
  const { path, kind, status, log } = record;
  return {
    path,
    kind,
    status,
    reason: status === 'skipped' ? 'if was false' : null,
    key: stepKey(runId, path),
    started_at: timeText(record.startedAtMs),
    finished_at: timeText(record.finishedAtMs),
    tries: record.tries.map(tryOf),
    out: level >= CUTS.indexOf('outs') ? null : record.out,
    withheld: record.withheld,
    dropped: record.dropped,
    log: log === null ? null : { bytes: log.bytes, cut: log.cut, tail: level >= 1 ? [] : tailOf(log.text) },
    error: record.error === null ? null : errorOf(record.error),
  };
}

function openAction(runId: RunId, { path, kind, status, startedAtMs }: InspectedRun['open'][number]): JsonObject {
  return { path, kind, status, key: stepKey(runId, path), started_at: timeText(startedAtMs), tries: [] };
}

function tryOf({ startedAtMs, finishedAtMs, error }: StepTry): JsonObject {
  return {
    started_at: timeText(startedAtMs),
    finished_at: timeText(finishedAtMs),
    error: error === null ? null : errorOf(error),
  };
}

function errorOf({
  kind,
  message,
  status,
  code,
  line,
  reason,
  headers,
  body,
}: NonNullable<StepEnd['error']>): JsonObject {
  return {
    kind,
    message,
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    ...(line === undefined ? {} : { line }),
  };
}

function checkOf(path: string, check: CheckRecord, level: number): JsonObject {
  const { name, phase, status, level: told = status === 'warned' ? 'warn' : 'error', message, actual, values } = check;
  const seen: JsonValue = values ?? (actual === null ? {} : { actual });
  return {
    path,
    phase,
    name,
    ok: status === 'passed',
    level: told,
    values: level >= CUTS.indexOf('values') ? {} : seen,
    message,
  };
}

function questionOf(question: NonNullable<InspectedRun['question']>): JsonObject {
  const { step, prompt, details, show, form, askedAtMs, timeoutMs } = question;
  return {
    step,
    question: prompt,
    details: details ?? null,
    show: show.map(({ path, value }) => ({ path, value })),
    form,
    asked_at: timeText(askedAtMs),
    deadline_at: timeoutMs === undefined ? null : timeText(askedAtMs + timeoutMs),
  };
}

function tailOf(text: string): string[] {
  const lines = textEnd(text, TAIL_CHARACTERS_MAX).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.slice(-TAIL_LINES_MAX);
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
