// Builds the news of a run for followers of its organization: the whole run when it comes to rest, or each change
// without content.
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type NewsDetail,
  type OrganizationNewsSchema,
  QuestionChange,
  type QuestionNewsSchema,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { type QuestionEvent, questionChanges } from '../run/question.ts';
import type { OpenQuestion, Run, StepSummary } from '../run/run.ts';
import { stepsOf } from '../run/step-states.ts';
import { runView } from '../wire/run-message.ts';

export type OrganizationNews = MessageInitShape<typeof OrganizationNewsSchema>;
export type QuestionNews = MessageInitShape<typeof QuestionNewsSchema>;

const CHANGE: Record<QuestionEvent, QuestionChange> = {
  asked: QuestionChange.ASKED,
  changed: QuestionChange.CHANGED,
  reminded: QuestionChange.REMINDED,
  escalated: QuestionChange.ESCALATED,
  answered: QuestionChange.ANSWERED,
  expired: QuestionChange.EXPIRED,
  cancelled: QuestionChange.CANCELLED,
};

/** A run with more steps is pushed without them: they take megabytes, and a reader can request the run. */
const STEPS_MAX = 500;

/** Returns what a commit did to the run's question. */
export function questionNews(before: Run | null, after: Run): readonly QuestionNews[] {
  return questionChanges(before, after).map(({ event, question }) => ({
    change: CHANGE[event],
    questionId: question.id,
    runId: after.facts.runId,
    method: after.facts.method,
    step: question.step,
    askedAtMs: question.askedAtMs,
    deadlineAtMs: question.deadlineAtMs ?? 0,
    assignee: question.assignee ?? '',
    votes: question.votes?.length ?? 0,
    needs: question.policy?.needs?.count ?? 0,
  }));
}

/** Returns the run as GET returns it. */
export function restNews(run: Run, detail: NewsDetail): OrganizationNews {
  const { orgId } = run.facts;
  if (run.steps.length <= STEPS_MAX) return { orgId, detail, run: runView(run) };
  return { orgId, detail, run: { ...runView({ ...run, steps: [] }), steps: [] }, stepsLeftOut: true };
}

/** Returns the run as lists show it, the steps that differ from `before`, and which question is open. */
export function changeNews(before: Run | null, after: Run, detail: NewsDetail): OrganizationNews {
  const stepsLeftOut = after.steps.length > STEPS_MAX;
  const steps = stepsLeftOut ? [] : changedSteps(before, after);
  return { orgId: after.facts.orgId, detail, run: runView(withoutContent(after, steps)), stepsLeftOut };
}

function withoutContent(run: Run, changed: readonly StepSummary[]): Run {
  const bare = {
    answers: [],
    steps: changed.map((step) => ({ ...step, checks: [], error: null })),
    ending: run.ending && { ...run.ending, error: { ...run.ending.error, message: '' } },
  };
  switch (run.status) {
    case 'waiting':
      return { ...run, ...bare, question: bareQuestion(run.question) };
    case 'succeeded':
      return { ...run, ...bare, resultJson: '' };
    case 'failed':
      return { ...run, ...bare, error: { ...run.error, message: '' } };
    default:
      return { ...run, ...bare };
  }
}

function bareQuestion({ id, step, askedAtMs, deadlineAtMs, timeoutText }: OpenQuestion): OpenQuestion {
  return { id, step, askedAtMs, deadlineAtMs, timeoutText, prompt: '', details: '', show: [], formJson: '' };
}

function changedSteps(before: Run | null, after: Run): StepSummary[] {
  const known = new Map(before === null ? [] : stepsOf(before).map((step) => [step.path, step]));
  return stepsOf(after).filter((step) => {
    const was = known.get(step.path);
    return (
      was === undefined ||
      was.status !== step.status ||
      was.attempt !== step.attempt ||
      was.startedAtMs !== step.startedAtMs ||
      was.finishedAtMs !== step.finishedAtMs
    );
  });
}
