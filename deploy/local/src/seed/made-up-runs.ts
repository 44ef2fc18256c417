// Makes up runs in all states, as the rows of the run-scheduler's tables, only from their number: the same seed gives
// the same runs.
import {
  type KeyId,
  newId,
  newRunId,
  type ProductionId,
  type QuestionId,
  type RunId,
  type VersionId,
} from '@methods/base/ids';
import { HOSTILE_TEXTS, longLine } from './hostile-texts.ts';
import type { SeededMethod } from './seed-methods.ts';

export interface StepRow {
  readonly path: string;
  readonly seq: number;
  readonly status: string;
  readonly view_json: string;
  readonly out_json: string | null;
  readonly log_tail: string | null;
}

export interface RunRow {
  readonly run_id: RunId;
  readonly shard: number;
  readonly method: ProductionId;
  readonly version_id: VersionId;
  readonly inputs_json: string;
  readonly key_id: KeyId | '';
  readonly starter_json: string | null;
  readonly metadata_json: string | null;
  readonly created_at_ms: number;
  readonly status: string;
  readonly state_since_ms: number;
  readonly started_at_ms: number | null;
  readonly queued_ms: number;
  readonly running_ms: number;
  readonly waiting_ms: number;
  readonly attempts: number;
  readonly question_id: QuestionId | null;
  readonly question_json: string | null;
  readonly prompt: string;
  readonly due_at_ms: number | null;
  readonly wake_at_ms: number | null;
  readonly result_json: string | null;
  readonly error_json: string | null;
  readonly steps: readonly StepRow[];
}

export interface SeedFacts {
  readonly methods: readonly SeededMethod[];
  readonly keys: readonly KeyId[];
  readonly person: { readonly personId: string; readonly name: string; readonly email: string };
  readonly shardCount: number;
  readonly nowMs: number;
  readonly runs: number;
  readonly questions: number;
}

const DAY_MS = 86_400_000;
const SPREAD_DAYS = 29;
const LOOP_ROUNDS = 2_500;
const LINE_CHARACTERS = 1_000_000;
const FORM = {
  type: 'object',
  properties: { approve: { type: 'boolean' } },
  required: ['approve'],
  additionalProperties: false,
};
const FAILURES = [
  {
    kind: 'http',
    message: 'The server answered 503 to request 8f3a2b after 30 s.\nIt was tried 3 times.',
    code: 'step_failed',
  },
  {
    kind: 'exception',
    message: "TypeError: Cannot read properties of undefined (reading 'total')",
    code: 'step_failed',
  },
  { kind: 'check', message: 'The sum 1204.5 is not that of the 17 lines.', code: 'check_failed' },
  { kind: 'timeout', message: 'The step did not end within 60 s.', code: 'step_failed' },
  { kind: 'timeout', message: 'No answer within 3d', code: 'no_answer' },
  { kind: 'worker_lost', message: 'The worker was lost in all 3 attempts.', code: 'attempts_exhausted' },
];

/** Yields them oldest first. The first ones have what few runs have: many steps, a very long line, hostile texts. */
export function* madeUpRuns(facts: SeedFacts): Generator<RunRow> {
  for (let n = 0; n < facts.runs; n++) yield madeUpRun(n, facts);
}

function madeUpRun(n: number, facts: SeedFacts): RunRow {
  const random = randomOf(n);
  const status = statusOf(n, facts, random);
  const { method, versionId } = facts.methods[Math.floor(random() ** 2 * facts.methods.length)] as SeededMethod;
  const open = status === 'queued' || status === 'running' || status === 'sleeping' || status === 'waiting';
  // More runs lately than a month ago; what is open began within a day.
  const ageMs = open ? random() * DAY_MS : (1 - n / facts.runs) ** 2 * SPREAD_DAYS * DAY_MS + random() * 60_000;
  const createdAtMs = Math.floor(facts.nowMs - ageMs - 1);
  const queuedMs = Math.floor(random() ** 6 * 20_000) + 2;
  const runningMs = status === 'queued' ? 0 : Math.floor(random() ** 4 * 60_000) + 20;
  const waits = status !== 'queued' && random() < 0.2;
  const waitingMs = waits && !open ? Math.floor(random() ** 3 * 4 * 3_600_000) : 0;
  const startedAtMs = status === 'queued' ? null : createdAtMs + queuedMs;
  const endMs = createdAtMs + queuedMs + runningMs + waitingMs;
  const stateSinceMs = Math.min(status === 'queued' ? createdAtMs : endMs, facts.nowMs - 1);
  const hostile = n % 50 === 7 ? (HOSTILE_TEXTS[Math.floor(n / 50) % HOSTILE_TEXTS.length] ?? '') : null;
  const shard = n % facts.shardCount;
  const byPerson = n % 9 === 0 || facts.keys.length === 0;
  const failure = failureOf(n, hostile);
  const question = status === 'waiting' ? questionOf(n, hostile, stateSinceMs) : null;
  const order = `ord_${(n * 7919).toString(36)}`;
  return {
    run_id: newRunId(shard, createdAtMs),
    shard,
    method,
    version_id: versionId,
    inputs_json: JSON.stringify({ order: hostile ?? order }),
    key_id: byPerson ? '' : (facts.keys[n % facts.keys.length] ?? ''),
    starter_json: byPerson ? JSON.stringify({ ...facts.person, keyId: '', role: 'admin', linkRecipient: '' }) : null,
    metadata_json:
      n % 3 === 0 ? JSON.stringify({ order, ...(hostile === null ? {} : { note: hostile.slice(0, 512) }) }) : null,
    created_at_ms: createdAtMs,
    status,
    state_since_ms: stateSinceMs,
    started_at_ms: startedAtMs,
    queued_ms: status === 'queued' ? 0 : queuedMs,
    running_ms: runningMs,
    waiting_ms: waitingMs,
    attempts:
      status === 'queued'
        ? 0
        : failure.code === 'attempts_exhausted' && status === 'failed'
          ? 3
          : 1 + (n % 40 === 0 ? 1 : 0),
    question_id: question?.id ?? null,
    question_json: question === null ? null : JSON.stringify(question),
    prompt: question?.prompt ?? '',
    due_at_ms: question?.deadlineAtMs ?? null,
    wake_at_ms: status === 'sleeping' ? facts.nowMs + (1 + (n % 20)) * DAY_MS : null,
    result_json: status === 'succeeded' ? JSON.stringify({ done: hostile ?? order }) : null,
    error_json: status === 'failed' ? JSON.stringify(failure) : null,
    steps:
      status === 'queued'
        ? []
        : stepsOf({ n, status, startedAtMs: startedAtMs ?? createdAtMs, runningMs, waitingMs, failure, order }),
  };
}

/** Open runs are the last ones by number, so that each state has its exact count. */
function statusOf(n: number, { runs, questions }: SeedFacts, random: () => number): string {
  const fromEnd = runs - 1 - n;
  const few = Math.ceil(runs / 1_000);
  if (fromEnd < questions) return 'waiting';
  if (fromEnd < questions + 2 * few) return 'queued';
  if (fromEnd < questions + 3 * few) return 'sleeping';
  if (fromEnd < questions + 4 * few) return 'running';
  if (n < 2) return 'succeeded';
  const at = random();
  return at < 0.09 ? 'failed' : at < 0.12 ? 'cancelled' : 'succeeded';
}

function failureOf(n: number, hostile: string | null) {
  const { kind, message, code } = FAILURES[n % FAILURES.length] as (typeof FAILURES)[number];
  return {
    code,
    kind,
    message: hostile ?? message.replaceAll(/\d+/g, (digits) => String(Number(digits) + (n % 97))),
    step: 'apply',
  };
}

function questionOf(n: number, hostile: string | null, askedAtMs: number) {
  return {
    id: newId('q', askedAtMs),
    step: 'approval',
    prompt: hostile ?? `Refund ${10 + (n % 490)} EUR to ord_${(n * 7919).toString(36)}?`,
    details: n % 5 === 0 ? 'The customer wrote twice, and the parcel came back.' : '',
    show: [{ path: 'steps.fetch.found', valueJson: JSON.stringify(hostile ?? `ord_${n}`) }],
    formJson: JSON.stringify(FORM),
    askedAtMs,
    deadlineAtMs: n % 2 === 0 ? askedAtMs + 30 * DAY_MS : null,
    timeoutText: '30d',
  };
}

interface StepFacts {
  readonly n: number;
  readonly status: string;
  readonly startedAtMs: number;
  readonly runningMs: number;
  readonly waitingMs: number;
  readonly failure: { readonly kind: string; readonly message: string; readonly step: string };
  readonly order: string;
}

function stepsOf({ n, status, startedAtMs, runningMs, waitingMs, failure, order }: StepFacts): StepRow[] {
  const half = Math.floor(runningMs / 2);
  const fetched = step(1, 'fetch', 'node', 'succeeded', startedAtMs, { runningMs: half });
  const first = {
    ...fetched,
    out_json: JSON.stringify({ found: n === 1 ? longLine(LINE_CHARACTERS) : order }),
    log_tail: `read ${order}\n`,
  };
  const rounds = n === 0 ? roundsOf(startedAtMs) : [];
  const asked = {
    ...step(2, 'approval', 'ask', 'succeeded', startedAtMs + half, { waitingMs }),
    out_json: JSON.stringify({ approve: true }),
  };
  if (status === 'succeeded') {
    const applied = step(3, 'apply', 'node', 'succeeded', startedAtMs + half + waitingMs, { runningMs: half });
    return [first, asked, { ...applied, out_json: JSON.stringify({ done: order }) }, ...rounds];
  }
  if (status !== 'failed') return [first];
  const error = { kind: failure.kind, message: failure.message, status: failure.kind === 'http' ? 503 : 0, line: 18 };
  const failed = step(3, failure.step, 'node', 'failed', startedAtMs + half + waitingMs, { runningMs: half, error });
  return [first, asked, { ...failed, log_tail: '\u001b[31mit failed\u001b[0m\n' }];
}

/** A loop of many rounds with a step each; every hundredth failed, which its method allows. */
function roundsOf(startedAtMs: number): StepRow[] {
  return Array.from({ length: LOOP_ROUNDS }, (_, i) => {
    const status = i % 100 === 99 ? 'failed' : 'succeeded';
    const atMs = startedAtMs + i * 10;
    const round = step(2 * i + 5, `apply[${i}]`, 'each', status, atMs, { runningMs: 9 });
    return [step(2 * i + 4, `apply[${i}]/fetch`, 'node', status, atMs, { runningMs: 8 }), round];
  }).flat();
}

function step(
  seq: number,
  path: string,
  kind: string,
  status: string,
  startedAtMs: number,
  { runningMs = 0, waitingMs = 0, error = null }: { runningMs?: number; waitingMs?: number; error?: object | null },
): StepRow {
  const finishedAtMs = startedAtMs + runningMs + waitingMs;
  const view = { path, kind, status, attempt: 1, startedAtMs, finishedAtMs, runningMs, waitingMs, checks: [], error };
  return { path, seq: 100_000 + seq, status, view_json: JSON.stringify(view), out_json: null, log_tail: null };
}

/** Numbers from 0 to 1 that follow from `n` (mulberry32). */
function randomOf(n: number): () => number {
  let state = (n + 1) * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}
