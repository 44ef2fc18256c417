// Reads a question for its page: its content, votes and receipt from the run-scheduler, and the related names from the
// registry.
import { ServiceError } from '@methods/errors/service-error';
import type { ListRecipientsResponse } from '@methods/proto/registry/v1/account_service_pb';
import {
  type Actor,
  AnswerChannel,
  type Question,
  type Receipt,
  type RunView,
  type Vote,
} from '@methods/proto/run/v1/run_pb';
import {
  type GetQuestionResponse,
  type QuestionItem,
  QuestionState,
} from '@methods/proto/scheduler/v1/question_service_pb';
import type { QuestionCalls } from '../../clients/question-calls.ts';
import type { RegistryCalls } from '../../clients/registry-calls.ts';
import { refusalName } from '../../views/inbox-view.ts';
import type { AskedQuestion, GivenAnswer } from './asked-question.ts';

export interface QuestionSources {
  readonly questions: Pick<QuestionCalls, 'get'>;
  readonly registryCalls: Pick<RegistryCalls, 'accounts'>;
}

type Names = Pick<ListRecipientsResponse, 'orgName' | 'methodName' | 'timeZone' | 'contentOnDevices'>;

const NAMES_MS = 3_000;

/** `reader`: a person who signed in. Null: it is not kept any more. @throws ServiceError unavailable */
export async function readQuestion(
  { questions, registryCalls }: QuestionSources,
  { orgId, questionId }: Pick<AskedQuestion, 'orgId' | 'questionId'>,
  reader?: Actor,
): Promise<AskedQuestion | null> {
  try {
    const found = await questions.get({ orgId, questionId, ...(reader && { reader }) });
    if (found.item === undefined) throw new ServiceError('internal');
    const { method: methodId } = found.item;
    const names = await registryCalls.accounts.listRecipients({ orgId, methodId }, { timeoutMs: NAMES_MS });
    return { orgId, questionId, ...shownQuestion(found.item, found, names) };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return null;
    throw error;
  }
}

/**
 * Returns the question after an accepted answer. `run` is the reply to the answer: it says whether the question is still
 * open if `read` cannot, as while the registry is unavailable. The answer counts in any case.
 */
export async function afterAnswer(
  before: AskedQuestion,
  run: RunView | undefined,
  read: () => Promise<AskedQuestion>,
): Promise<AskedQuestion> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { ...before, state: run?.question?.id === before.questionId ? 'open' : 'answered' };
  }
}

function shownQuestion(
  item: QuestionItem,
  { question, receipt }: Pick<GetQuestionResponse, 'question' | 'receipt'>,
  known: Names,
): Omit<AskedQuestion, 'orgId' | 'questionId'> {
  const names = { ...known, contentOnDevices: known.contentOnDevices || item.onDevice };
  return {
    runId: item.runId,
    orgName: names.orgName,
    methodName: names.methodName === '' ? item.method : names.methodName,
    timeZone: names.timeZone,
    step: item.step,
    prompt: question?.prompt ?? item.prompt,
    ...contentOf(question, names),
    takesComment: true,
    state: STATES[item.state] ?? 'open',
    closedAtMs: item.closedAtMs,
    refusal: refusalName(item.refusal),
    receipt: receipt === undefined ? null : receiptOf(receipt, names),
  };
}

const STATES: Readonly<Partial<Record<QuestionState, AskedQuestion['state']>>> = {
  [QuestionState.ANSWERED]: 'answered',
  [QuestionState.EXPIRED]: 'expired',
  [QuestionState.CANCELLED]: 'cancelled',
};

function contentOf(question: Question | undefined, names: Names) {
  const policy = question?.policy;
  return {
    details: question?.details ?? '',
    show: question?.show ?? [],
    formJson: names.contentOnDevices ? '' : (question?.formJson ?? ''),
    deadlineAtMs: question?.deadlineAtMs ?? 0,
    timeoutAnswerJson: policy?.timeoutAnswerJson ?? '',
    needs: policy?.needs ?? 0,
    votes: (question?.votes ?? []).map((vote) => givenBy(vote, names)),
  };
}

function receiptOf(receipt: Receipt, names: Names): GivenAnswer {
  const agreed = receipt.votes.map(({ actor }) => partyWords(actor));
  const given = givenBy({ ...receipt, atMs: receipt.answeredAtMs }, names);
  return agreed.length > 1 ? { ...given, agreed } : given;
}

function givenBy(
  { actor, channel, atMs, answerJson, comment }: Pick<Vote, 'actor' | 'channel' | 'atMs' | 'answerJson' | 'comment'>,
  { contentOnDevices }: Names,
): GivenAnswer {
  return {
    by: partyWords(actor),
    linkRecipient: channel === AnswerChannel.LINK || channel === AnswerChannel.CHAT ? (actor?.linkRecipient ?? '') : '',
    ...(channel === AnswerChannel.TIMEOUT && { timedOut: true }),
    atMs,
    answerJson: contentOnDevices ? '' : answerJson,
    comment,
  };
}

/** As people read it. */
function partyWords(actor: Actor | undefined): string {
  if (actor === undefined || actor.keyId !== '') return 'an application';
  const { name, email, linkRecipient } = actor;
  return [name, email, linkRecipient].find((text) => text !== '') ?? 'a person';
}
