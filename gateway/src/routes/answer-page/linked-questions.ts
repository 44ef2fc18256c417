// Opens links: the link from the notifier, its question from the run, and the names around it from the registry. The
// run decides whether an answer counts; the link is marked afterwards.
import { isRole } from '@methods/auth/caller';
import type { UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { type AnswerLink, LinkState } from '@methods/proto/notifier/v1/link_service_pb';
import type { ListRecipientsResponse } from '@methods/proto/registry/v1/account_service_pb';
import { type Actor, AnswerChannel, type RunView } from '@methods/proto/run/v1/run_pb';
import type { AuditLog } from '../../clients/audit-log.ts';
import type { LinkCalls } from '../../clients/link-calls.ts';
import type { RegistryCalls, RequestDoer } from '../../clients/registry-calls.ts';
import type { RunScheduler } from '../../clients/run-scheduler.ts';
import { NO_ONE } from '../../plugins/request-actor.ts';
import { answerFacts } from '../runs/answer-facts.ts';
import type { AnswerLinks, OpenedLink } from './answer-links.ts';
import type { AskedQuestion, PageVisitor, SentAnswer } from './asked-question.ts';
import { questionOfRun } from './question-of-run.ts';

export interface LinkedQuestionParts {
  readonly links: Pick<LinkCalls, 'open' | 'use'>;
  readonly scheduler: Pick<RunScheduler, 'getRun' | 'answerRun'>;
  readonly registryCalls: Pick<RegistryCalls, 'accounts'>;
  readonly audit: Pick<AuditLog, 'note'>;
  readonly logger: Logger;
}

type From = Pick<RequestDoer, 'ip' | 'requestId'>;

interface Found {
  readonly run: RunView;
  readonly names: ListRecipientsResponse;
}

/** No request of a page waits for the run. */
const UNWATCHED = { wait: null, caller: { id: 'answer_page', gone: false, onGone: () => () => {} } };
const REGISTRY_MS = 3_000;

export class LinkedQuestions implements AnswerLinks {
  constructor(private readonly parts: LinkedQuestionParts) {}

  async open(token: string, requestId: string): Promise<OpenedLink | null> {
    const link = await this.parts.links.open(token);
    if (link === null) return null;
    const found = await this.find(link, requestId);
    const person = found === null ? null : personOf(link, found.names);
    const isOver = person === null && (await this.hasLostAccess(link));
    return {
      orgId: link.orgId,
      visitor: isOver ? { ...visitorOf(link), state: 'ended' } : visitorOf(link),
      question: found === null ? null : asked(link, found),
      answer: async (sent, from) => {
        if (found === null || isOver) throw new ServiceError('not_found');
        const run = await this.answer(token, link, person, sent, from);
        return asked(link, { ...found, run });
      },
      again: async () => asked(link, (await this.find(link, requestId)) ?? gone()),
    };
  }

  private async answer(
    token: string,
    link: AnswerLink,
    person: UserId | null,
    { answerJson, comment }: SentAnswer,
    from: From,
  ): Promise<RunView> {
    const { scheduler, audit, links, logger } = this.parts;
    const { orgId, runId, questionId, recipient } = link;
    const actor = person === null ? { ...NO_ONE, linkRecipient: recipient } : await this.member(link, person);
    const channel = isAddress(recipient) ? AnswerChannel.LINK : AnswerChannel.CHAT;
    const given = { questionId, answerJson, actor, channel, comment };
    const run = await scheduler.answerRun({ orgId, runId, requestId: from.requestId }, given, {
      ...UNWATCHED,
      answered: (after) => {
        const doer =
          person === null ? ({ kind: 'system', id: 'answer_link' } as const) : ({ kind: 'user', id: person } as const);
        const facts = { ...answerFacts(after, questionId, channel), recipient };
        audit.note({ orgId, doer: { ...doer, ...from }, action: 'run.answer', targetId: runId, facts });
        return null;
      },
    });
    // The answer counts in any case: the page shows it from the run.
    await links
      .use(token)
      .catch((error: unknown) => logger.warn({ error, org_id: orgId }, 'a used link is not marked yet'));
    return run;
  }

  /** Null: the run is not kept any more. */
  private async find({ orgId, runId, recipient }: AnswerLink, requestId: string): Promise<Found | null> {
    const { scheduler, registryCalls } = this.parts;
    try {
      const run = await scheduler.getRun({ orgId, runId, requestId });
      const request = { orgId, methodId: run.method, to: [recipient] };
      return { run, names: await registryCalls.accounts.listRecipients(request, { timeoutMs: REGISTRY_MS }) };
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return null;
      throw error;
    }
  }

  /** The member who has the link's address now: the same person in all rules about people. */
  private async member({ orgId, recipient }: AnswerLink, userId: UserId): Promise<Actor> {
    const { member } = await this.parts.registryCalls.accounts.getMember({ orgId, userId }, { timeoutMs: REGISTRY_MS });
    const { name = '', role = '' } = member ?? {};
    return {
      ...NO_ONE,
      personId: userId,
      email: recipient,
      name,
      role: isRole(role) ? role : '',
      linkRecipient: recipient,
    };
  }

  /** Of a link that was sent to a member. */
  private async hasLostAccess({ orgId, userId }: AnswerLink): Promise<boolean> {
    if (userId === '') return false;
    try {
      const { member } = await this.parts.registryCalls.accounts.getMember(
        { orgId, userId },
        { timeoutMs: REGISTRY_MS },
      );
      return member === undefined || member.disabledAtMs > 0;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return true;
      throw error;
    }
  }
}

function asked({ orgId, questionId }: AnswerLink, { run, names }: Found): AskedQuestion {
  return questionOfRun(run, { orgId, questionId }, names);
}

function personOf({ recipient }: AnswerLink, { recipients }: ListRecipientsResponse): UserId | null {
  return recipients.find(({ email }) => email === recipient)?.userId || null;
}

/** Else it is the name of a chat. */
function isAddress(recipient: string): boolean {
  return recipient.includes('@');
}

function gone(): never {
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
