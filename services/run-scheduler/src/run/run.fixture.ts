// Runs and commands for tests of the rules: one run of each kind, all with the same history, and short ways to apply
// commands. In the history, question q0 was answered and attempt `t1` has reported twice.
import type { QuestionId } from '@methods/base/ids';
import type { Party, Role } from './party.ts';
import type { AcceptedAnswer, Run, RunFacts, RunningRun, StepSummary } from './run.ts';
import type { AnswerRun, RunCommand } from './run-command.ts';

export const T0 = 1_000_000;
export const DEADLINE_MS = 5_000;
export const SLEEP_MS = 70_000;

export const facts: RunFacts = {
  runId: 'run_00000000000000000000000000' as const,
  orgId: 'org_a' as const,
  shard: 0,
  method: 'wf_a' as const,
  versionId: 'ver_a' as const,
  inputsJson: '{}',
  idempotencyHash: new Uint8Array([1]),
  requestDigest: new Uint8Array([2]),
  webhookUrl: 'https://example.com/hook',
  keyId: 'key_a' as const,
  starter: null,
  answerBy: 'application',
  metadata: {},
  createdAtMs: T0,
  maxAttempts: 3,
  needs: '',
  cleansUp: false,
  contentId: null,
  rerunOf: '',
  sealedBy: null,
};

const lastAnswer: AcceptedAnswer = {
  questionId: 'q_0' as const,
  step: 'first',
  answerJson: '{"ok":true}',
  digest: 'd0',
};

const history = {
  facts,
  revision: 7,
  stateSinceMs: T0,
  startedAtMs: T0,
  spans: { queuedMs: 10, runningMs: 20, waitingMs: 30 },
  attempts: 1,
  attemptOpen: true,
  token: 't1',
  returnedToken: null,
  lastSeq: 2,
  steps: [],
  answer: lastAnswer,
  answers: [],
  folderId: null,
  ending: null,
} as const;

/** The worker of the third attempt was lost. */
const ending = {
  kind: 'cleanup',
  error: { code: 'attempts_exhausted', kind: 'worker_lost', message: 'Lost.', step: 'first' },
  byMs: T0 + SLEEP_MS,
} as const;

const neverClaimed = { startedAtMs: null, attempts: 0, attemptOpen: false, token: null, lastSeq: 0, answer: null };

const running: RunningRun = {
  ...history,
  status: 'running',
  token: 't1',
  workerSession: 'worker.1',
  cancelRequested: false,
};

/** `fresh` waits for its first claim, `queued` for another one; `cancelling` runs and is asked to cancel; `ending` and
 * `cleaning` have failed, and clean up in one more claim. */
export const runs = {
  fresh: { ...history, ...neverClaimed, status: 'queued' },
  queued: { ...history, status: 'queued' },
  sleeping: { ...history, status: 'sleeping', wakeAtMs: T0 + SLEEP_MS },
  running,
  cancelling: { ...running, cancelRequested: true },
  waiting: {
    ...history,
    status: 'waiting',
    question: {
      id: 'q_1' as const,
      step: 'second',
      prompt: 'Go on?',
      details: '',
      show: [],
      formJson: '{}',
      askedAtMs: T0,
      deadlineAtMs: T0 + DEADLINE_MS,
      timeoutText: '3d',
    },
  },
  ending: { ...history, status: 'queued', ending },
  cleaning: { ...running, ending },
  succeeded: { ...history, status: 'succeeded', resultJson: '1' },
  failed: { ...history, status: 'failed', error: { code: 'step_failed', kind: 'http', message: 'no', step: 'first' } },
  cancelled: { ...history, status: 'cancelled' },
} as const satisfies Record<string, Run>;

function step(path: string): StepSummary {
  return {
    path,
    kind: 'node',
    status: 'succeeded',
    attempt: 0,
    startedAtMs: T0,
    finishedAtMs: T0,
    runningMs: 0,
    waitingMs: 0,
    checks: [],
    error: null,
  };
}

export const start: RunCommand = { type: 'start', facts };
export const wake: RunCommand = { type: 'wake' };
export const cancel: RunCommand = { type: 'cancel' };

export function claim(token: string): RunCommand {
  return { type: 'claim', token, workerSession: 'worker.1', cleansUp: true };
}

export function recordStep(token: string, seq: number, path = 'first'): RunCommand {
  return {
    type: 'record_step',
    token,
    seq,
    step: step(path),
    outJson: '1',
    outWithheld: false,
    logTail: null,
    folderId: null,
  };
}

export function ask(
  token: string,
  seq: number,
  questionId: QuestionId = 'q_2',
  timeoutMs: number | null = DEADLINE_MS,
): RunCommand {
  const question = { questionId, step: 'third', prompt: 'Sure?', details: '', show: [], formJson: '{}' };
  return { type: 'ask', token, seq, ...question, timeoutMs, timeoutText: '3d', folderId: null };
}

export function succeed(token: string, seq: number): RunCommand {
  return { type: 'finish', token, seq, outcome: { status: 'succeeded', resultJson: '1' } };
}

export function fail(token: string, seq: number): RunCommand {
  const error = { code: 'step_failed', kind: 'http', message: 'no', step: 'first' };
  return { type: 'finish', token, seq, outcome: { status: 'failed', error } };
}

export function giveBack(token: string, seq: number): RunCommand {
  return { type: 'give_back', token, seq };
}

export function sleep(token: string, seq: number): RunCommand {
  return { type: 'sleep', token, seq, waitMs: SLEEP_MS, folderId: null };
}

export function returnGrant(token: string): RunCommand {
  return { type: 'return_grant', token };
}

export function heartbeat(token: string): RunCommand {
  return { type: 'heartbeat', token };
}

export function loseLease(token: string): RunCommand {
  return { type: 'expire_lease', token };
}

export function answer(questionId: QuestionId | null, digest: string): AnswerRun {
  const sender = { by: null, channel: null, comment: '' } as const;
  return { type: 'answer', questionId, answerJson: `{"digest":"${digest}"}`, digest, ...sender };
}

/** Ann is a member with the verified address ann@example.com. */
export function person(name: string, role: Role = 'member'): Party {
  return { personId: `usr_${name}`, keyId: '', email: `${name}@example.com`, name, role, linkRecipient: '' };
}

/** The person who opens a link that was sent to this person's address. */
export function recipient(name: string): Party {
  return { personId: '', keyId: '', email: '', name: '', role: '', linkRecipient: `${name}@example.com` };
}

export const key: Party = { personId: '', keyId: 'key_a', email: '', name: '', role: '', linkRecipient: '' };

export function assign(questionId: QuestionId, assignee: Party | null, by: Party = person('ann')): RunCommand {
  return { type: 'assign_question', questionId, by, assignee };
}

export function delegate(questionId: QuestionId, to: Party, by: Party = person('ann')): RunCommand {
  return { type: 'delegate_question', questionId, by, to };
}

export function expireQuestion(questionId: QuestionId): RunCommand {
  return { type: 'expire_question', questionId };
}
