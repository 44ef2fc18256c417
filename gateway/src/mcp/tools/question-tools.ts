// The tools of questions: list open ones, and answer one.
import { isId, type QuestionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { Type } from 'typebox';
import { InboxPage, InboxQuery } from '../../routes/inbox/inbox-schemas.ts';
import { inboxPage } from '../../routes/inbox/list-inbox.ts';
import { checkedAnswer } from '../../routes/runs/answer-run.ts';
import { AnswerRunBody } from '../../routes/runs/run-schemas.ts';
import { answeredByUser, askedBefore, asksPeople, askUser, givenAnswer } from '../asked-user.ts';
import { AgentRun, answerPage, runOutcome } from '../run-outcome.ts';
import { type Tool, tool } from '../tool.ts';
import { checkedMethod } from './method-argument.ts';
import { addressOf, RunArgument, runIdOf } from './run-tools.ts';

const Closed = { additionalProperties: false } as const;

// These are texts where they are parts of an address.
const { mine: _mine, unassigned: _unassigned, ...filters } = InboxQuery.properties;
const FLAGS = {
  mine: Type.Optional(Type.Boolean({ description: 'Given to you, or asked of your verified address only.' })),
  unassigned: Type.Optional(Type.Boolean({ description: 'Given to no one.' })),
};

const listQuestions = tool({
  name: 'list_questions',
  title: 'List open questions',
  description:
    'Lists the open questions of the organization’s runs, newest first: which run and step asks, the beginning of the ' +
    'prompt, and its deadline. mine: true gives those for the signed-in person. get_run has the whole question.',
  access: 'viewer',
  input: Type.Object({ ...filters, ...FLAGS }, Closed),
  output: Type.Object({ questions: InboxPage.properties.items, next_cursor: InboxPage.properties.next_cursor }),
  hints: { readOnly: true },
  async call({ mine, unassigned, ...args }, call) {
    const query = {
      ...args,
      ...(mine && { mine: 'true' as const }),
      ...(unassigned && { unassigned: 'true' as const }),
    };
    const { items, next_cursor } = await inboxPage(call.request, call.parts, query);
    if (items.length === 0) await checkedMethod(call, args.method);
    const summary = `${items.length} open question${items.length === 1 ? '' : 's'}.`;
    return { summary, data: { questions: items, next_cursor } };
  },
});

const answerRun = tool({
  name: 'answer_run',
  title: 'Answer a run’s question',
  description:
    'Answers the question that a run waits on, as the signed-in person. Only with what the user has decided: show them ' +
    'the prompt and the form (get_run) first. Without answer your client asks the user itself, if it can. A question ' +
    'with rules about people is always asked of the user in this way, or answered on its page (answer_at). The answer ' +
    'has to fit the form; the same answer again is a repeat.',
  access: 'member',
  input: Type.Object(
    {
      run_id: RunArgument,
      question_id: Type.String({ maxLength: 64, description: 'q_…: the question that the answer is for.' }),
      answer: Type.Optional(AnswerRunBody.properties.answer),
      comment: AnswerRunBody.properties.comment,
    },
    Closed,
  ),
  output: AgentRun,
  hints: { readOnly: false, destructive: true, idempotent: true },
  async call({ run_id, question_id, answer, comment = '' }, call) {
    const runId = runIdOf(run_id);
    const questionId = questionIdOf(question_id);
    const asked = askedBefore(call);
    if (asked !== null) {
      if (asked.runId !== runId || asked.questionId !== questionId) throw new ServiceError('question_changed');
      return runOutcome(call.parts, call.orgId, await answeredByUser(call, asked));
    }
    const run = await call.parts.scheduler.getRun(addressOf(call, runId));
    const { question } = run;
    const isOpen = question?.id === questionId;
    if (isOpen && (answer === undefined || asksPeople(question))) {
      const asking = await askUser(call, run);
      if (asking !== null) return asking;
      throw new ServiceError('forbidden', `A person answers this question: at ${answerPage(call.parts, run)}.`);
    }
    checkedAnswer(call.request, answer ?? {});
    const answered = await givenAnswer(call, { runId, questionId, answer: answer ?? {}, comment });
    return runOutcome(call.parts, call.orgId, answered);
  },
});

export const QUESTION_TOOLS: readonly Tool[] = [listQuestions, answerRun];

function questionIdOf(id: string): QuestionId {
  if (!isId('q', id)) throw new ServiceError('not_found', 'There is no such question. See list_questions.');
  return id;
}
