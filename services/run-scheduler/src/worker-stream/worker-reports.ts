// The owner's side of workers' reports: each report becomes a command to its run, and the outcome an acknowledgement or
// a refusal. The worker repeats a report that gets neither.
import { newId, type OrgId, type RunId } from '@methods/base/ids';
import type { AnswerPolicy as SourcePolicy } from '@methods/method/answer-policy';
import { deadlineText } from '@methods/method/structure/duration';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import type { Ask, StepRecord, WorkerItem } from '@methods/proto/worker/v1/worker_service_pb';
import type { TellOutcome } from '../actor/run-actor.ts';
import type { RunActors } from '../actor/run-actors.ts';
import type { AnswerPolicy } from '../run/policy.ts';
import type { Run, StepSummary } from '../run/run.ts';
import type { AskRun, FinishRun, RunCommand } from '../run/run-command.ts';
import { stepStatusName } from '../wire/run-message.ts';
import { isSealedEnd, isSealedRecord, sealedQuestion } from './device-mode.ts';
import type { LeaseTable } from './lease-table.ts';
import type { QuestionForms } from './question-forms.ts';
import { errorOf } from './step-error.ts';

export type ReportOutcome =
  | { readonly case: 'ack'; readonly value: { runId: RunId; seq: number; token: string } }
  | {
      readonly case: 'refused';
      readonly value: { runId: RunId; seq: number; code: string; message: string; token: string };
    };

export type ReportItem = Extract<
  WorkerItem['item'],
  { case: 'accepted' | 'stepRecord' | 'ask' | 'sleep' | 'finish' | 'giveBack' }
>;

const REPORTS: Readonly<Record<ReportItem['case'], true>> = {
  accepted: true,
  stepRecord: true,
  ask: true,
  sleep: true,
  finish: true,
  giveBack: true,
};

/** Reports whether an owner handles the item; other items of a worker are for its node. */
export function isReport(item: WorkerItem['item']): item is ReportItem {
  return item.case !== undefined && item.case in REPORTS;
}

/** Takes the last step's record out of the report that carries it; null: there is none. */
export function takeLastRecord({ case: kind, value }: ReportItem): ReportItem | null {
  if ((kind !== 'finish' && kind !== 'ask' && kind !== 'sleep') || value.lastRecord === undefined) return null;
  const { lastRecord: record } = value;
  Object.assign(value, { lastRecord: undefined });
  // Overwrites the record's run and token: a record counts only for the run of its report.
  record.runId = value.runId;
  record.token = value.token;
  return { case: 'stepRecord', value: record };
}

const NO_ANSWER = '{"not":{}}';
/** Records and starts of slow steps in one attempt. */
const REPORTS_MAX = 30_000;
const RESULT_BYTES_MAX = 1 << 20;
/** Bounds the values that the checks of an answer read, as workers do. */
const SCOPE_BYTES_MAX = 64 * 1024;
/** Of a sleep and of a question's deadline. A source has at most 365 days. */
const WAIT_MS_MAX = 366 * 86_400_000;
const REMINDERS_MAX = 20;
/** The last time that has a date. */
const TIME_MS_MAX = 8.64e15;

export class WorkerReports {
  constructor(
    private readonly options: {
      readonly actors: RunActors;
      readonly leases: LeaseTable;
      readonly forms: Pick<QuestionForms, 'judge'>;
    },
  ) {}

  /** Returns null for no reply, so that the worker repeats it. */
  async handle(
    from: { nodeId: string; session: string; orgId: OrgId },
    item: ReportItem,
  ): Promise<ReportOutcome | null> {
    const { runId, token } = item.value;
    this.options.leases.renew(runId, token, from.nodeId, from.session);
    if (item.case === 'accepted') return null;
    const { seq } = item.value;
    const command = commandOf(item);
    if (command?.type === 'ask' && item.case === 'ask' && !command.isSealed) {
      return this.ask(from.orgId, item.value, command);
    }
    if (command === null) {
      return refusal(runId, token, seq, 'invalid_request', 'The report is not one a worker can make.');
    }
    return reply(await this.options.actors.tell(from.orgId, runId, command), runId, token, seq);
  }

  /** Gives the question the form of the source; a worker that sends another form fails its run. */
  private async ask(orgId: OrgId, item: Ask, command: AskRun): Promise<ReportOutcome | null> {
    const { actors, forms } = this.options;
    const { runId, token, seq } = item;
    const resident = actors.granted({ runId, orgId });
    const run = runningWith(resident, token) ? resident : await actors.read(runId).catch(() => null);
    // The run's own rules decide about such a report; this form would accept no answer.
    if (run === null || run.facts.orgId !== orgId || !runningWith(run, token)) {
      return reply(await actors.tell(orgId, runId, { ...command, formJson: NO_ANSWER }), runId, token, seq);
    }
    const verdict = await forms.judge(run, item);
    if (verdict.kind === 'later') return null;
    if (verdict.kind === 'refused') return refusal(runId, token, seq, 'invalid_request', verdict.message);
    const { formJson, checks: place, policy, formSha256, versionSha256 } = verdict;
    const asked: AskRun = {
      ...(place && { checks: { scopeJson: boundedScope(item.ensureScopeJson), ...place } }),
      ...(policy && { policy: keptPolicy(policy) }),
      ...command,
      formJson,
      formSha256,
      versionSha256,
    };
    return reply(await actors.tell(orgId, runId, asked), runId, token, seq);
  }
}

function keptPolicy({ timeoutAnswer, ...policy }: SourcePolicy): AnswerPolicy {
  return { timeoutAnswerJson: timeoutAnswer && JSON.stringify(timeoutAnswer), ...policy };
}

/** Omits a scope that is too large: then the worker judges the answer. */
function boundedScope(json: string): string {
  return Buffer.byteLength(json) > SCOPE_BYTES_MAX ? '' : json;
}

function runningWith(run: Run | null, token: string): boolean {
  return run?.status === 'running' && run.token === token;
}

function reply(outcome: TellOutcome, runId: RunId, token: string, seq: number): ReportOutcome | null {
  if (outcome.kind === 'accepted') return { case: 'ack', value: { runId, seq, token } };
  if (outcome.kind === 'failed') {
    if (outcome.code !== 'invalid_request') return null;
    return refusal(runId, token, seq, 'invalid_request', 'The report holds a value that cannot be stored.');
  }
  if (outcome.code === 'out_of_order') return null;
  if (outcome.code === 'not_sealed') {
    return refusal(runId, token, seq, 'invalid_request', 'The content of a run in device mode is sealed.');
  }
  if (outcome.code === 'too_much_recorded') {
    return refusal(runId, token, seq, 'invalid_request', 'The records of the steps are larger than a run may be.');
  }
  return refusal(runId, token, seq, 'stale_attempt', 'Another attempt holds this run.');
}

function refusal(runId: RunId, token: string, seq: number, code: string, message: string): ReportOutcome {
  return { case: 'refused', value: { runId, seq, code, message, token } };
}

function commandOf(item: Exclude<ReportItem, { case: 'accepted' }>): RunCommand | null {
  const { token, seq } = item.value;
  switch (item.case) {
    case 'stepRecord': {
      const step = stepOf(item.value);
      if (step === null || seq > REPORTS_MAX) return null;
      const { outJson, outWithheld, logTail, folderId } = item.value;
      return {
        type: 'record_step',
        token,
        seq,
        isSealed: isSealedRecord(item.value),
        step,
        outJson: outWithheld || outJson === '' ? null : outJson,
        outWithheld,
        logTail: logTail === '' ? null : logTail,
        folderId: folderId === '' ? null : folderId,
      };
    }
    case 'ask': {
      const { question, timeoutMs, timeoutText, folderId } = item.value;
      if (question === undefined || question.step === '' || !(timeoutMs <= WAIT_MS_MAX)) return null;
      const sealed = sealedQuestion(item.value);
      if (sealed === null && question.sealed.length > 0) return null;
      return {
        type: 'ask',
        token,
        seq,
        isSealed: sealed !== null,
        questionId: newId('q'),
        step: question.step,
        prompt: question.prompt,
        details: question.details,
        show: question.show.map(({ path, valueJson }) => ({ path, valueJson })),
        formJson: NO_ANSWER,
        ...(sealed !== null && { sealed, formJson: '', ...deviceRules(item.value) }),
        timeoutMs: timeoutMs > 0 ? Math.ceil(timeoutMs) : null,
        timeoutText: deadlineText(Math.ceil(timeoutMs), timeoutText),
        folderId: folderId === '' ? null : folderId,
      };
    }
    case 'sleep': {
      const { waitMs, folderId } = item.value;
      if (!(waitMs > 0 && waitMs <= WAIT_MS_MAX)) return null;
      return { type: 'sleep', token, seq, waitMs: Math.ceil(waitMs), folderId: folderId === '' ? null : folderId };
    }
    case 'finish': {
      const { status, resultJson, error, cleanupLeft } = item.value;
      const isSealed = isSealedEnd(resultJson, error);
      if (status === RunStatus.SUCCEEDED) {
        return { type: 'finish', token, seq, isSealed, outcome: outcomeOf(resultJson) };
      }
      if (status !== RunStatus.FAILED || error === undefined) return null;
      const { code, kind, message, step } = error;
      return {
        type: 'finish',
        token,
        seq,
        isSealed,
        outcome: { status: 'failed', error: { code, kind, message, step }, cleanupLeft },
      };
    }
    case 'giveBack':
      return { type: 'give_back', token, seq };
  }
}

/**
 * In device mode the worker gives the rules that do not name people, since the step may be one of a called method whose
 * version only sealed records name.
 */
function deviceRules({ deadlineAtMs, hasTimeoutAnswer, remindMs: times }: Ask): Partial<AskRun> {
  const remindMs = times.filter((ms) => ms > 0 && ms <= WAIT_MS_MAX).slice(0, REMINDERS_MAX);
  const rules = { to: [], notStarter: false, needs: null, escalate: null, timeoutAnswerJson: null };
  return {
    ...(timeOf(deadlineAtMs) > 0 && { deadlineAtMs: Math.ceil(deadlineAtMs) }),
    ...(hasTimeoutAnswer && { hasTimeoutAnswer }),
    ...(remindMs.length > 0 && { policy: { ...rules, remindMs: remindMs.sort((a, b) => a - b) } }),
  };
}

/** Our own workers end such a run with the same message. */
function outcomeOf(resultJson: string): FinishRun['outcome'] {
  if (Buffer.byteLength(resultJson) <= RESULT_BYTES_MAX) return { status: 'succeeded', resultJson: resultJson || '{}' };
  const message = 'The result is larger than 1 MiB; use a file';
  return { status: 'failed', error: { code: 'result_invalid', kind: 'limit', message, step: '' } };
}

function stepOf(record: StepRecord): StepSummary | null {
  const step = record.step;
  const status = step === undefined ? null : stepStatusName(step.status);
  if (step === undefined || status === null || step.path === '') return null;
  return {
    path: step.path,
    kind: step.kind,
    status,
    attempt: step.attempt,
    startedAtMs: timeOf(step.startedAtMs),
    finishedAtMs: timeOf(step.finishedAtMs),
    runningMs: timeOf(step.runningMs),
    waitingMs: timeOf(step.waitingMs),
    checks: step.checks.map(({ name, phase, status: verdict, message }) => ({ name, phase, status: verdict, message })),
    error: step.error === undefined ? null : errorOf(step.error),
  };
}

/** 0, which is unknown, where no date can be made of it: every reader of the run would fail. */
function timeOf(ms: number): number {
  return ms > 0 && ms <= TIME_MS_MAX ? ms : 0;
}
