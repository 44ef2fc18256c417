// Questions of the Inbox as the documented JSON.
import { type CountedMember, peopleWhoMay } from '@methods/method/needed-people';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import {
  AnswerRefusal,
  type GetQuestionResponse,
  type QuestionItem,
  QuestionState,
} from '@methods/proto/scheduler/v1/question_service_pb';
import { timeView } from './party-view.ts';
import { openQuestionJson, partyJson, receiptJson } from './question-view.ts';

const STATES: Record<QuestionState, string> = {
  [QuestionState.UNSPECIFIED]: 'open',
  [QuestionState.OPEN]: 'open',
  [QuestionState.ANSWERED]: 'answered',
  [QuestionState.EXPIRED]: 'expired',
  [QuestionState.CANCELLED]: 'cancelled',
};

export const STATE_NAMES = [...new Set(Object.values(STATES))];

const REFUSALS = {
  [AnswerRefusal.VIEWER]: 'viewer',
  [AnswerRefusal.PROGRAM]: 'program',
  [AnswerRefusal.STARTER]: 'starter',
  [AnswerRefusal.NOT_NAMED]: 'not_named',
  [AnswerRefusal.VOTED]: 'voted',
  [AnswerRefusal.CLOSED]: 'closed',
} as const;

export type RefusalName = (typeof REFUSALS)[keyof typeof REFUSALS];
export const REFUSAL_NAMES = Object.values(REFUSALS);

/** Null: the reader may answer, or a node of an earlier release does not say. */
export function refusalName(refusal: AnswerRefusal): RefusalName | null {
  return (REFUSALS as Readonly<Partial<Record<AnswerRefusal, RefusalName>>>)[refusal] ?? null;
}

/** `members`: the organization's members; null: not counted. */
export function questionItemView(item: QuestionItem, members: readonly CountedMember[] | null) {
  const { to, notStarter, needs, votes, assignee, closedAtMs } = item;
  const refusal = refusalName(item.refusal);
  const warnings = members === null ? [] : warningsOf(item, members);
  return {
    id: item.questionId,
    run_id: item.runId,
    method: item.method,
    version_id: item.versionId,
    step: item.step,
    prompt: item.prompt,
    state: STATES[item.state] ?? 'open',
    answer_by: item.answerBy === Answerer.APPLICATION ? 'application' : 'team',
    asked_at: timeView(item.askedAtMs),
    deadline_at: timeView(item.dueAtMs),
    ...(closedAtMs > 0 && { closed_at: timeView(closedAtMs) }),
    assignee: assignee === '' ? null : assignee,
    ...(to.length > 0 && { to }),
    ...(notStarter && { not_starter: true }),
    ...(needs > 0 && { needs, votes_given: votes }),
    ...(item.onDevice && { on_device: true }),
    ...(item.refusal !== AnswerRefusal.UNSPECIFIED && { may_answer: refusal === null }),
    ...(refusal !== null && { refusal }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Reports whether its rules must be compared with the members. */
export function needsPeople({ state, needs }: QuestionItem): boolean {
  return state === QuestionState.OPEN && needs > 1;
}

function warningsOf(item: QuestionItem, members: readonly CountedMember[]) {
  if (!needsPeople(item)) return [];
  const { to, escalateTo, needs } = item;
  const people = peopleWhoMay(to, escalateTo, members);
  if (people >= needs) return [];
  const has = people === 1 ? '1 member' : `${people} members`;
  const message = `The question needs the same answer of ${needs} people, and ${has} may answer it.`;
  return [{ path: '/needs', code: 'too_few_people', message }];
}

/** Forms and shown values are passed on unchanged, since parsing them would round large numbers. */
export function wholeQuestionJson(
  { item, question, receipt, starter, metadata }: GetQuestionResponse & { readonly item: QuestionItem },
  members: readonly CountedMember[] | null,
): string {
  const head = JSON.stringify({ ...questionItemView(item, members), metadata });
  const parts = [
    `"starter":${partyJson(starter)}`,
    ...(question === undefined ? [] : [`"question":${openQuestionJson(question)}`]),
    ...(receipt === undefined ? [] : [`"receipt":${receiptJson(receipt)}`]),
  ];
  return `${head.slice(0, -1)},${parts.join(',')}}`;
}
