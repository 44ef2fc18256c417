// A question as a signed-in person opens it: the run decides whether they may answer, and their acts are recorded like
// those of the API.
import type { QuestionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { AnswerChannel } from '@methods/proto/run/v1/run_pb';
import type { AuditLog } from '@methods/service/audit-log';
import type { FastifyRequest } from 'fastify';
import type { OrganizationMembers } from '../../clients/organization-members.ts';
import type { QuestionCalls } from '../../clients/question-calls.ts';
import type { RegistryCalls } from '../../clients/registry-calls.ts';
import { callerOf } from '../../plugins/caller.ts';
import { actorOf } from '../../plugins/request-actor.ts';
import { answerFacts, runChanged, runShown } from '../runs/run-acts.ts';
import { noMember, type OpenedQuestion } from './asked-question.ts';
import { readQuestion } from './asked-questions.ts';

export interface SignedInParts {
  readonly questions: Pick<QuestionCalls, 'get' | 'answer' | 'delegate'>;
  readonly members: Pick<OrganizationMembers, 'find'>;
  readonly registryCalls: Pick<RegistryCalls, 'accounts'>;
  readonly audit: AuditLog;
}

/** @throws ServiceError not_found for a question that the organization does not have */
export async function openSignedIn(
  parts: SignedInParts,
  request: FastifyRequest,
  questionId: QuestionId,
): Promise<OpenedQuestion> {
  const { questions, members } = parts;
  const { orgId } = callerOf(request);
  const named = { orgId, questionId };
  const actor = actorOf(request);
  const read = async () => (await readQuestion(parts, named, actor)) ?? missing();
  const question = await read();
  await runShown(request, parts, question.runId);
  const changed = { targetId: question.runId };
  return {
    orgId,
    visitor: { name: actor.name || actor.email, linkRecipient: null, state: 'open' },
    question,
    async answer({ answerJson, comment }) {
      const channel = AnswerChannel.INBOX;
      const { run } = await questions.answer({ ...named, answerJson, comment, actor, channel });
      const facts = run === undefined ? { question_id: questionId } : answerFacts(run, questionId, channel);
      await runChanged(request, parts, 'run.answer', { ...changed, facts });
      return read();
    },
    async delegate(address) {
      const to = (await members.find(orgId, address)) ?? noMember();
      await questions.delegate({ ...named, by: actor, to });
      const facts = { question_id: questionId, to: to.personId };
      await runChanged(request, parts, 'run.delegate', { ...changed, facts });
      return to.name || to.email;
    },
    again: read,
  };
}

function missing(): never {
  throw new ServiceError('not_found');
}
