// Converts questions of lists to messages.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import { type QuestionItemSchema, QuestionState } from '@methods/proto/scheduler/v1/question_service_pb';
import type { Answerer as AnswererName, ListedQuestion } from '../store/question-lists.ts';
import type { PeopleOfQuestion, QuestionState as StateName } from '../store/question-rows.ts';
import { answererNumber } from '../wire/run-message.ts';

const STATE: Record<StateName, QuestionState> = {
  open: QuestionState.OPEN,
  answered: QuestionState.ANSWERED,
  expired: QuestionState.EXPIRED,
  cancelled: QuestionState.CANCELLED,
};

export function questionItem(
  row: ListedQuestion,
  state: StateName = 'open',
  closedAtMs: number | null = null,
): MessageInitShape<typeof QuestionItemSchema> {
  const people = row.people_json === null ? null : (JSON.parse(row.people_json) as PeopleOfQuestion);
  return {
    questionId: row.question_id,
    runId: row.run_id,
    method: row.method,
    versionId: row.version_id,
    step: row.step,
    prompt: row.prompt,
    askedAtMs: row.asked_at_ms,
    dueAtMs: row.due_at_ms ?? 0,
    state: STATE[state],
    answerBy: answererNumber(row.answer_by),
    assignee: row.assignee,
    ...(people && { to: [...people.to], notStarter: people.notStarter, needs: people.needs }),
    escalateTo: [...(people?.escalateTo ?? [])],
    votes: row.votes,
    closedAtMs: closedAtMs ?? 0,
  };
}

/** Unspecified: either. */
export function answerersOf(answerBy: Answerer): readonly AnswererName[] {
  switch (answerBy) {
    case Answerer.APPLICATION:
      return ['application'];
    case Answerer.TEAM:
      return ['team'];
    default:
      return ['team', 'application'];
  }
}
