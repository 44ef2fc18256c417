// Opens links: the link from the notifier, its question from the run, and the names around it from the registry. The
// run decides whether an answer counts; the link is marked afterwards.
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { type AnswerLink, LinkState } from '@methods/proto/notifier/v1/link_service_pb';
import { AnswerChannel, RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import type { AuditLog } from '../../clients/audit-log.ts';
import type { LinkCalls } from '../../clients/link-calls.ts';
import type { RegistryCalls, RequestDoer } from '../../clients/registry-calls.ts';
import type { RunScheduler } from '../../clients/run-scheduler.ts';
import { NO_ONE } from '../../plugins/request-actor.ts';
import type { AnswerLinks, OpenedLink } from './answer-links.ts';
import type { AskedQuestion, GivenAnswer, PageVisitor, SentAnswer } from './asked-question.ts';

export interface LinkedQuestionParts {
  readonly links: Pick<LinkCalls, 'open' | 'use'>;
  readonly scheduler: Pick<RunScheduler, 'getRun' | 'answerRun'>;
  readonly registryCalls: Pick<RegistryCalls, 'accounts'>;
  readonly audit: Pick<AuditLog, 'note'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type From = Pick<RequestDoer, 'ip' | 'requestId'>;

/** No request of a page waits for the run. */
const UNWATCHED = { wait: null, caller: { id: 'answer_page', gone: false, onGone: () => () => {} } };
const NAMES_MS = 3_000;

export class LinkedQuestions implements AnswerLinks {
  constructor(private readonly parts: LinkedQuestionParts) {}

  async open(token: string, requestId: string): Promise<OpenedLink | null> {
    const link = await this.parts.links.open(token);
    if (link === null) return null;
    const visitor = visitorOf(link);
    const question = await this.question(link, requestId);
    return {
      orgId: link.orgId,
      visitor,
      question,
      answer: (sent, from) => this.answer(token, link, sent, from),
      again: async () => (await this.question(link, requestId)) ?? gone(),
    };
  }

  private async answer(token: string, link: AnswerLink, sent: SentAnswer, from: From): Promise<AskedQuestion> {
    const { scheduler, audit, links, clock, logger } = this.parts;
    const { orgId, runId, questionId, recipient, userId } = link;
    // The link proves the address: a member who has it is the same person.
    const actor = { ...NO_ONE, personId: userId, linkRecipient: recipient };
    const given = { questionId, answerJson: sent.answerJson, actor, channel: AnswerChannel.LINK, comment: '' };
    const run = await scheduler.answerRun({ orgId, runId, requestId: from.requestId }, given, {
      ...UNWATCHED,
      answered: () => {
        if (userId !== '') {
          const doer = { kind: 'user', id: userId, ...from } as const;
          audit.note({
            orgId,
            doer,
            action: 'run.answer',
            targetId: runId,
            facts: { question_id: questionId, through: 'link' },
          });
        }
        return null;
      },
    });
    // The answer counts in any case: the page shows it from the run.
    await links
      .use(token)
      .catch((error: unknown) => logger.warn({ error, org_id: orgId }, 'a used link is not marked yet'));
    const receipt = { ...givenBy(recipient), atMs: clock.wallMs(), answerJson: sent.answerJson };
    const asked = await this.asked(link, run);
    return { ...asked, state: 'answered', receipt };
  }

  /** Null: the run is not kept any more. */
  private async question(link: AnswerLink, requestId: string): Promise<AskedQuestion | null> {
    const { orgId, runId } = link;
    try {
      return await this.asked(link, await this.parts.scheduler.getRun({ orgId, runId, requestId }));
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return null;
      throw error;
    }
  }

  private async asked(link: AnswerLink, run: RunView): Promise<AskedQuestion> {
    const { orgId, runId, questionId } = link;
    const names = await this.parts.registryCalls.accounts.listRecipients(
      { orgId, methodId: run.method },
      { timeoutMs: NAMES_MS },
    );
    const open = run.question?.id === questionId ? run.question : null;
    const isOpen = open !== null && run.status === RunStatus.WAITING;
    return {
      orgId,
      runId,
      questionId,
      orgName: names.orgName,
      methodName: names.methodName === '' ? run.method : names.methodName,
      timeZone: names.timeZone,
      step: open?.step ?? '',
      prompt: open?.prompt ?? '',
      details: open?.details ?? '',
      show: open?.show ?? [],
      formJson: names.contentOnDevices ? '' : (open?.formJson ?? ''),
      deadlineAtMs: open?.deadlineAtMs ?? 0,
      timeoutAnswerJson: '',
      needs: 0,
      votes: [],
      // The run keeps none.
      takesComment: false,
      ...(isOpen ? { state: 'open', closedAtMs: 0 } : closed(run)),
      receipt: isOpen ? null : receiptOf(link),
    };
  }
}

function gone(): never {
  throw new ServiceError('not_found');
}

/** How a question ended that its run does not ask any more. */
function closed(run: RunView): Pick<AskedQuestion, 'state' | 'closedAtMs'> {
  const closedAtMs = run.timing?.finishedAtMs ?? 0;
  if (run.status === RunStatus.CANCELLED || run.cancelRequested) return { state: 'cancelled', closedAtMs };
  const code = run.error?.code ?? run.ending?.code;
  return { state: code === 'no_answer' ? 'expired' : 'answered', closedAtMs };
}

function receiptOf({ state, recipient, usedAtMs }: AnswerLink): GivenAnswer | null {
  if (state !== LinkState.USED) return null;
  return { ...givenBy(recipient), atMs: usedAtMs, answerJson: '' };
}

function givenBy(recipient: string): Pick<GivenAnswer, 'by' | 'linkRecipient' | 'comment'> {
  return { by: recipient, linkRecipient: recipient, comment: '' };
}

function visitorOf({ state, recipient }: AnswerLink): PageVisitor {
  return { name: recipient, linkRecipient: recipient, state: STATES[state] ?? 'ended' };
}

const STATES: Readonly<Partial<Record<LinkState, PageVisitor['state']>>> = {
  [LinkState.OPEN]: 'open',
  [LinkState.USED]: 'used',
  [LinkState.EXPIRED]: 'over',
};
