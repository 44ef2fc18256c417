// A run on a server: its shape, and the calls that commands make.
import { isId } from '@methods/base/ids';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { CommandError, UsageError } from '../errors/command-error.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';

export type ServerRunStatus = 'queued' | 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled';
export type ServerStepStatus = 'pending' | 'running' | 'waiting' | 'succeeded' | 'failed' | 'skipped' | 'cancelled';

export interface ServerStep {
  /** Its path. */
  readonly name: string;
  readonly kind: string;
  readonly status: ServerStepStatus;
  readonly timing: { readonly running_ms: number; readonly waiting_ms: number };
  readonly checks?: readonly { readonly name: string; readonly status: string; readonly message: string }[];
  readonly error?: {
    readonly message: string;
    readonly line?: number;
    readonly reason?: string;
    readonly body?: string;
  };
}

export interface ServerQuestion {
  readonly id: string;
  readonly step: string;
  readonly prompt: string;
  readonly details?: string;
  readonly show: readonly { readonly path: string; readonly value: JsonValue }[];
  readonly form: JsonObject;
  readonly deadline_at: string | null;
  readonly needs?: { readonly count: number };
  readonly votes?: readonly (GivenAnswer & { readonly at: string | null })[];
}

/** Who answered; null: not known, or an application. */
export interface ServerParty {
  readonly kind: string;
  readonly id?: string;
  readonly name?: string;
  readonly email?: string;
  /** Of a link. */
  readonly recipient?: string;
}

export interface GivenAnswer {
  readonly by: ServerParty | null;
  readonly channel: string;
  readonly comment?: string;
  /** Absent: it is long. */
  readonly answer?: JsonValue;
}

export interface AcceptedAnswer extends GivenAnswer {
  readonly step: string;
  readonly answered_at: string | null;
  /** The people who decided, where several had to. */
  readonly votes?: readonly GivenAnswer[];
}

/** As the server sends it; it has more fields. */
export interface ServerRun {
  readonly run_id: string;
  readonly method: string;
  readonly version_id: string;
  readonly status: ServerRunStatus;
  readonly timing: { readonly created_at: string; readonly running_ms: number; readonly queued_ms: number };
  readonly queued_reason?: string;
  readonly cancel_requested?: boolean;
  readonly steps: readonly ServerStep[];
  readonly question?: ServerQuestion;
  readonly answers?: readonly AcceptedAnswer[];
  readonly result?: JsonValue;
  readonly error?: { readonly code: string; readonly message: string; readonly step?: string };
  /** Its error, while its cleanup has yet to run. */
  readonly ending?: { readonly code: string };
}

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
/** Takes a service key and a person's token alike. */
export const RUNS = '/v1/runs';

export function runPath(runId: string): string {
  return `${RUNS}/${encodeURIComponent(runId)}`;
}

/** Where an answer goes: people's answers as those of the person, where one is known. */
export function answerPath(api: ServerApi, runId: string): string {
  const isPerson = api.credentialKind(PEOPLES_RUNS) !== 'none';
  return `${isPerson ? PEOPLES_RUNS : RUNS}/${encodeURIComponent(runId)}/answer`;
}

/** A server would answer that the run does not exist, which is misleading. @throws UsageError */
export function refuseMalformedRunId(word: string): void {
  if (isId('run', word)) return;
  const hint = 'it is run_ and 26 characters;  methods runs list  shows them';
  throw new UsageError(`"${word}" is not a run id`, hint);
}

export function isFinished({ status }: ServerRun): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

export function getRun(api: ServerApi, runId: string): Promise<ServerRun> {
  return api.get<ServerRun>(runPath(runId));
}

/** Values that were refused, each named. Other errors stay as they are. */
export function namingValues(error: unknown): unknown {
  if (!(error instanceof ServerRefusal) || error.details.length === 0) return error;
  const faults = error.details.map(({ path = '', message = '' }) => `${path.slice(1)} ${message}`.trim());
  return new CommandError(error.code, `${error.message}: ${faults.join('; ')}`, { hint: error.hint });
}
