// Writes the run routes' entries of the audit log, with the facts of accepted answers. What people see of a run and do
// to it is recorded before the reply. What programs do is recorded without waiting, so that their requests depend on
// nothing more; their reads are not recorded, since a service key is the application that requested the run.
import type { RunId } from '@methods/base/ids';
import type { AnswerChannel, RunView } from '@methods/proto/run/v1/run_pb';
import type { Act } from '@methods/service/audit-log';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { channelName } from '../../views/question-view.ts';
import { checkWaited, type RunRouteParts } from './run-reply.ts';

type Acts = Pick<RunRouteParts, 'audit'>;
type RunFacts = Pick<Act, 'targetId' | 'facts'>;

/** Records a view before a whole run is shown. Null: nothing to await. @throws ServiceError unavailable */
export function runShown(request: FastifyRequest, { audit }: Acts, runId: RunId): Promise<void> | null {
  return isPerson(request) ? audit.beforeShowing(actOf(request, 'run.read', { targetId: runId })) : null;
}

/** As `runShown`, for a request that may have waited. @throws unauthorized, forbidden, unavailable */
export function runShownAfterWait(reply: FastifyReply, acts: Acts, runId: RunId): Promise<void> | null {
  const shown = () => runShown(reply.request, acts, runId);
  const checked = checkWaited(reply);
  return checked === null ? shown() : checked.then(() => shown() ?? undefined);
}

/** Records a start, after it. */
export function runStarted(request: FastifyRequest, { audit }: Acts, run: RunFacts): void {
  if (isPerson(request)) audit.note(actOf(request, 'run.start', run));
}

/** Records a change before the reply. Null: nothing to await. @throws ServiceError unavailable */
export function runChanged(
  request: FastifyRequest,
  { audit }: Acts,
  action: 'run.answer' | 'run.assign' | 'run.cancel' | 'run.delegate',
  run: RunFacts,
): Promise<void> | null {
  const act = actOf(request, action, run);
  if (isPerson(request)) return audit.afterDoing(act);
  audit.note(act);
  return null;
}

function isPerson(request: FastifyRequest): boolean {
  return callerOf(request).kind === 'user';
}

function actOf(request: FastifyRequest, action: Act['action'], run: RunFacts): Act {
  return { orgId: callerOf(request).orgId, doer: doerOf(request), action, ...run };
}

// What the audit log keeps of an accepted answer: the facts of its receipt, without what was answered or written beside it.

/**
 * `run` after the answer; `questionId` is empty for the question that was open. `counted` is `vote` while the question
 * needs more people.
 */
export function answerFacts(
  run: RunView,
  questionId: string,
  channel: AnswerChannel,
): Readonly<Record<string, string>> {
  const receipt = run.answers.findLast((one) => questionId === '' || one.questionId === questionId);
  const { question } = run;
  // Another question may be open by now.
  const isVote = question?.policy !== undefined && question.policy.needs > 0 && receipt?.questionId !== questionId;
  const open = isVote && (questionId === '' || question.id === questionId) ? question : null;
  const id = questionId || open?.id || receipt?.questionId;
  const [form, version] =
    open === null ? [receipt?.formHash, receipt?.versionHash] : [open.formSha256, open.versionSha256];
  return {
    ...(id && { question_id: id }),
    channel: channelName(channel),
    counted: open === null ? 'answer' : 'vote',
    ...(form && { form_sha256: form }),
    ...(version && { version_sha256: version }),
  };
}

// The two surfaces of the run routes: for programs under /v1, for people under /api.

export interface RunSurface {
  readonly url: '/v1/runs' | '/api/runs';
  /** Records of local runs are listed here as well. */
  readonly people: boolean;
}

export const PROGRAMS: RunSurface = { url: '/v1/runs', people: false };
export const PEOPLE: RunSurface = { url: '/api/runs', people: true };

/** The route's part of the API description, which requires unique names. */
export function describedRun({ people }: RunSurface, operationId: string, summary: string) {
  return {
    operationId: people ? `${operationId}AsUser` : operationId,
    summary,
    tags: [people ? 'runs of users' : 'runs'],
  };
}
