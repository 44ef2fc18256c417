// The calls that commands make about a run on a server.
import type { Run } from '@methods/api/run';
import { isId } from '@methods/base/ids';
import type { JsonObject } from '@methods/method/json';
import { CommandError, UsageError } from '../errors/command-error.ts';
import type { ServerApi } from './server-api.ts';
import { isUncertain, ServerRefusal } from './server-refusal.ts';

/** The record of a run on a person's own computer. */
export interface LocalRunOnServer {
  readonly kind: 'local';
  readonly run_id: string;
  readonly method: string;
  readonly version_id: string;
  readonly status: string | null;
  readonly created_at: string;
}

const PEOPLES_RUNS = '/api/runs';
/** Accepts a service key and a person's token alike. */
export const RUNS = '/v1/runs';

export function runPath(runId: string): string {
  return `${RUNS}/${encodeURIComponent(runId)}`;
}

/** Returns where an answer is sent: people's answers in the person's name, if one is known. */
export function answerPath(api: ServerApi, runId: string): string {
  return `${answersAsPerson(api) ? PEOPLES_RUNS : RUNS}/${encodeURIComponent(runId)}/answer`;
}

export function answersAsPerson(api: ServerApi): boolean {
  return api.credentialKind(PEOPLES_RUNS) !== 'none';
}

/** A server would answer that the run does not exist, which is misleading. @throws UsageError */
export function refuseMalformedRunId(word: string): void {
  if (isId('run', word)) return;
  const hint = 'it is run_ and 26 characters;  methods runs list  shows them';
  throw new UsageError(`"${word}" is not a run id`, hint);
}

export function isFinished({ status }: Run): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

export interface StartedRun {
  readonly run_id: string;
  readonly status: string;
}

/** With its own key, a start with an uncertain reply may be repeated. */
export async function startedRun(api: ServerApi, start: JsonObject): Promise<StartedRun> {
  return (await api.send<StartedRun>('POST', RUNS, start, { idempotent: true })).value;
}

/** `hint`: what to do when the reply was lost, since the run may have started. Other errors are returned unchanged. */
export function unlessStarted(error: unknown, hint: string): unknown {
  if (!isUncertain(error)) return error;
  return new CommandError(error.code, error.message, { hint: `the run may have started: ${hint}`, cause: error });
}

export function getRun(api: ServerApi, runId: string): Promise<Run> {
  return api.get<Run>(runPath(runId));
}

/** Names each refused value. Other errors are returned unchanged. */
export function namingValues(error: unknown): unknown {
  if (!(error instanceof ServerRefusal) || error.details.length === 0) return error;
  const faults = error.details.map(({ path = '', message = '' }) => `${path.slice(1)} ${message}`.trim());
  return new CommandError(error.code, `${error.message}: ${faults.join('; ')}`, { hint: error.hint });
}
