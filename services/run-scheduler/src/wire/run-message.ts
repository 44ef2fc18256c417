// Converts a run of the domain to its message for other processes, and status names to their numbers.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Answerer, RunStatus, type RunViewSchema, StepStatus, type StepViewSchema } from '@methods/proto/run/v1/run_pb';
import { starterOf } from '../run/party.ts';
import { isFinal, type Run, type RunFacts, type StepSummary } from '../run/run.ts';
import { stepsOf } from '../run/step-states.ts';
import { questionMessage, receiptMessage } from './question-message.ts';

export type RunViewMessage = MessageInitShape<typeof RunViewSchema>;

const RUN_STATUS = {
  queued: RunStatus.QUEUED,
  sleeping: RunStatus.QUEUED,
  running: RunStatus.RUNNING,
  waiting: RunStatus.WAITING,
  succeeded: RunStatus.SUCCEEDED,
  failed: RunStatus.FAILED,
  cancelled: RunStatus.CANCELLED,
} as const;

const STEP_STATUS = {
  running: StepStatus.RUNNING,
  waiting: StepStatus.WAITING,
  succeeded: StepStatus.SUCCEEDED,
  failed: StepStatus.FAILED,
  skipped: StepStatus.SKIPPED,
  cancelled: StepStatus.CANCELLED,
} as const;

export function runStatusNumber(status: Run['status']): RunStatus {
  return RUN_STATUS[status];
}

export function runStatusNames(): Run['status'][] {
  return Object.keys(RUN_STATUS) as Run['status'][];
}

export function stepStatusNumber(status: string): StepStatus {
  return STEP_STATUS[status as keyof typeof STEP_STATUS] ?? StepStatus.UNSPECIFIED;
}

/** Returns null for a status that no record of a step has. */
export function stepStatusName(status: StepStatus): StepSummary['status'] | null {
  for (const [name, number] of Object.entries(STEP_STATUS)) {
    if (number === status) return name as StepSummary['status'];
  }
  return null;
}

export function answererName(answerer: Answerer): 'application' | 'team' {
  return answerer === Answerer.APPLICATION ? 'application' : 'team';
}

export function answererNumber(answerBy: 'application' | 'team'): Answerer {
  return answerBy === 'application' ? Answerer.APPLICATION : Answerer.TEAM;
}

/** Reports whether nothing happens to the run until a message arrives. */
export function isViewAtRest({ status }: RunViewMessage): boolean {
  return status !== RunStatus.QUEUED && status !== RunStatus.RUNNING;
}

/** The facts of a run that its message shows; the others do not leave the process. */
type ShownFacts = Pick<RunFacts, Extract<keyof RunFacts, keyof RunViewMessage> | 'keyId' | 'createdAtMs'>;

interface ShownState extends Pick<Run, 'status' | 'revision' | 'attempts' | 'startedAtMs' | 'stateSinceMs' | 'spans'> {
  readonly cancelRequested?: boolean;
  readonly wakeAtMs?: number | null;
}

export function runView(run: Run): RunViewMessage {
  const view: RunViewMessage = shownView(run.facts, run);
  view.steps = stepsOf(run).map(stepView);
  if (run.status === 'waiting') view.question = questionMessage(run.question);
  if (run.status === 'succeeded') view.resultJson = run.resultJson;
  if (run.status === 'failed') view.error = run.error;
  if (run.ending !== null && !isFinal(run.status)) view.ending = run.ending.error;
  if (run.answers.length > 0) view.answers = run.answers.map(receiptMessage);
  return view;
}

/**
 * What a whole run and a run in a list show alike. It is on the path of every run, so all fields are written one by
 * one in a fixed order, also those that are set later: see "Copies" in docs/performance.md. The compiler demands every
 * fact whose name the message has.
 */
export function shownView(facts: ShownFacts, run: ShownState) {
  const sleeps = run.status === 'sleeping';
  return {
    runId: facts.runId,
    method: facts.method,
    versionId: facts.versionId,
    status: RUN_STATUS[run.status],
    attempts: run.attempts,
    maxAttempts: facts.maxAttempts,
    answerBy: answererNumber(facts.answerBy),
    metadata: facts.metadata,
    timing: {
      createdAtMs: facts.createdAtMs,
      startedAtMs: run.startedAtMs ?? 0,
      waitingSinceMs: run.status === 'waiting' ? run.stateSinceMs : 0,
      finishedAtMs: isFinal(run.status) ? run.stateSinceMs : 0,
      queuedMs: run.spans.queuedMs,
      runningMs: run.spans.runningMs,
      waitingMs: run.spans.waitingMs,
      stateSinceMs: run.stateSinceMs,
    },
    cancelRequested: run.status === 'running' && run.cancelRequested === true,
    steps: [],
    question: undefined,
    resultJson: '',
    error: undefined,
    revision: run.revision,
    queuedReason: sleeps ? 'sleeping' : '',
    wakeAtMs: sleeps ? (run.wakeAtMs ?? 0) : 0,
    ending: undefined,
    answers: [],
    contentId: facts.contentId ?? '',
    starter: starterField(facts),
    rerunOf: facts.rerunOf,
  } satisfies RunViewMessage & Record<Exclude<keyof ShownFacts, 'keyId' | 'createdAtMs'>, unknown>;
}

/** As the run knew them; the role and the program of a person do not concern readers. */
function starterField(facts: Pick<RunFacts, 'starter' | 'keyId'>) {
  const party = starterOf(facts);
  if (party === null) return undefined;
  const { personId, keyId, email, name, linkRecipient } = party;
  return { personId, keyId, email, name, linkRecipient };
}

function stepView(step: StepSummary): MessageInitShape<typeof StepViewSchema> {
  return {
    path: step.path,
    kind: step.kind,
    status: STEP_STATUS[step.status],
    attempt: step.attempt,
    startedAtMs: step.startedAtMs,
    finishedAtMs: step.finishedAtMs,
    runningMs: step.runningMs,
    waitingMs: step.waitingMs,
    checks: [...step.checks],
    error: step.error ?? undefined,
  };
}
