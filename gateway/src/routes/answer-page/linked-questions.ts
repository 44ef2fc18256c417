// Opens links: reads the link from the notifier and its question from the run-scheduler. The run decides whether an
// answer counts; the link is marked afterwards.
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { type AnswerLink, LinkState } from '@methods/proto/notifier/v1/link_service_pb';
import { type Actor, AnswerChannel } from '@methods/proto/run/v1/run_pb';
import type { AuditLog } from '@methods/service/audit-log';
import type { LinkCalls } from '../../clients/link-calls.ts';
import type { OrganizationMembers } from '../../clients/organization-members.ts';
import type { QuestionCalls } from '../../clients/question-calls.ts';
import type { RequestDoer } from '../../clients/registry-calls.ts';
import { NO_ONE } from '../../plugins/request-actor.ts';
import { answerFacts } from '../runs/run-acts.ts';
import {
  type AnswerLinks,
  noMember,
  type OpenedQuestion,
  type PageVisitor,
  type SentAnswer,
} from './asked-question.ts';
import { afterAnswer, type QuestionSources, readQuestion } from './asked-questions.ts';

export interface LinkedQuestionParts extends QuestionSources {
  readonly links: Pick<LinkCalls, 'open' | 'use'>;
  readonly questions: Pick<QuestionCalls, 'get' | 'answer' | 'delegate'>;
  readonly members: Pick<OrganizationMembers, 'find'>;
  readonly audit: Pick<AuditLog, 'note'>;
  readonly logger: Logger;
}

type From = Pick<RequestDoer, 'ip' | 'requestId'>;

export class LinkedQuestions implements AnswerLinks {
  constructor(private readonly parts: LinkedQuestionParts) {}

  async open(token: string): Promise<OpenedQuestion | null> {
    const link = await this.parts.links.open(token);
    if (link === null) return null;
    const read = () => readQuestion(this.parts, link);
    const again = async () => (await read()) ?? missing();
    const question = await read();
    const isOver = await this.hasLostAccess(link);
    return {
      orgId: link.orgId,
      visitor: isOver ? { ...visitorOf(link), state: 'ended' } : visitorOf(link),
      question,
      again,
      answer: async (sent, from) => {
        if (isOver) throw new ServiceError('not_an_answerer');
        const run = await this.answer(token, link, sent, from);
        return question === null ? again() : afterAnswer(question, run, again);
      },
      delegate: async (to, from) => {
        if (isOver) throw new ServiceError('not_an_answerer');
        return this.delegate(link, to, from);
      },
    };
  }

  private async answer(token: string, link: AnswerLink, sent: SentAnswer, from: From) {
    const { questions, links, logger } = this.parts;
    const { orgId, questionId } = link;
    const actor = await this.actor(link);
    const channel = isAddress(link.recipient) ? AnswerChannel.LINK : AnswerChannel.CHAT;
    const { run } = await questions.answer({ orgId, questionId, ...sent, actor, channel });
    const facts = run === undefined ? {} : answerFacts(run, questionId, channel);
    this.note(link, actor, 'run.answer', from, facts);
    // The answer counts in any case: the page shows it from the run.
    await links
      .use(token)
      .catch((error: unknown) => logger.warn({ error, org_id: orgId }, 'a used link is not marked yet'));
    return run;
  }

  private async delegate(link: AnswerLink, address: string, from: From): Promise<string> {
    const { questions, members } = this.parts;
    const { orgId, questionId } = link;
    const to = (await members.find(orgId, address)) ?? noMember();
    const by = await this.actor(link);
    await questions.delegate({ orgId, questionId, by, to });
    this.note(link, by, 'run.delegate', from, { to: to.personId });
    return to.name || to.email;
  }

  /** Returns the recipient. The member who has the link's address now is the same person in all rules about people. */
  private async actor({ orgId, recipient }: AnswerLink): Promise<Actor> {
    const member = isAddress(recipient) ? await this.parts.members.find(orgId, recipient) : null;
    return { ...(member ?? NO_ONE), linkRecipient: recipient };
  }

  private note(
    { orgId, runId, questionId, recipient }: AnswerLink,
    { personId }: Actor,
    action: 'run.answer' | 'run.delegate',
    from: From,
    facts: Readonly<Record<string, string>>,
  ): void {
    const doer = personId === '' ? { kind: 'system', id: 'answer_link' } : { kind: 'user', id: personId };
    this.parts.audit.note({
      orgId,
      doer: { ...(doer as Pick<RequestDoer, 'kind' | 'id'>), ...from },
      action,
      targetId: runId,
      facts: { question_id: questionId, ...facts, recipient },
    });
  }

  /** For a link that was sent to a member. */
  private async hasLostAccess({ orgId, userId }: AnswerLink): Promise<boolean> {
    return userId !== '' && (await this.parts.members.find(orgId, userId)) === null;
  }
}

/** Otherwise it is the name of a chat. */
function isAddress(recipient: string): boolean {
  return recipient.includes('@');
}

function missing(): never {
  throw new ServiceError('not_found');
}

function visitorOf({ state, recipient }: AnswerLink): PageVisitor {
  return { name: recipient, linkRecipient: recipient, state: STATES[state] ?? 'ended' };
}

const STATES: Readonly<Partial<Record<LinkState, PageVisitor['state']>>> = {
  [LinkState.OPEN]: 'open',
  [LinkState.USED]: 'used',
  [LinkState.EXPIRED]: 'over',
};
