// A question as its page shows it, from the run that asked it: while it is open its content, afterwards its receipt.
import type { ListRecipientsResponse } from '@methods/proto/registry/v1/account_service_pb';
import {
  type Actor,
  AnswerChannel,
  type Question,
  type Receipt,
  RunStatus,
  type RunView,
  type Vote,
} from '@methods/proto/run/v1/run_pb';
import type { AskedQuestion, GivenAnswer } from './asked-question.ts';

/** The names around a question. */
export type AskedNames = Pick<ListRecipientsResponse, 'orgName' | 'methodName' | 'timeZone' | 'contentOnDevices'>;

export function questionOfRun(
  run: RunView,
  { orgId, questionId }: Pick<AskedQuestion, 'orgId' | 'questionId'>,
  names: AskedNames,
): AskedQuestion {
  const { runId } = run;
  const open = run.question?.id === questionId && run.status === RunStatus.WAITING ? run.question : null;
  const receipt = run.answers.find((each) => each.questionId === questionId) ?? null;
  return {
    orgId,
    runId,
    questionId,
    orgName: names.orgName,
    methodName: names.methodName === '' ? run.method : names.methodName,
    timeZone: names.timeZone,
    step: open?.step ?? receipt?.step ?? '',
    prompt: open?.prompt ?? receipt?.prompt ?? '',
    ...contentOf(open, names),
    takesComment: true,
    ...(open === null ? closed(run, receipt) : { state: 'open', closedAtMs: 0 }),
    receipt: receipt === null ? null : receiptOf(receipt, names),
  };
}

function contentOf(open: Question | null, names: AskedNames) {
  const policy = open?.policy;
  return {
    details: open?.details ?? '',
    show: open?.show ?? [],
    formJson: names.contentOnDevices ? '' : (open?.formJson ?? ''),
    deadlineAtMs: open?.deadlineAtMs ?? 0,
    timeoutAnswerJson: policy?.timeoutAnswerJson ?? '',
    needs: policy?.needs ?? 0,
    votes: (open?.votes ?? []).map((vote) => givenBy(vote, names)),
  };
}

/** How a question ended that its run does not ask any more. */
function closed(run: RunView, receipt: Receipt | null): Pick<AskedQuestion, 'state' | 'closedAtMs'> {
  if (receipt !== null) return { state: 'answered', closedAtMs: receipt.answeredAtMs };
  const closedAtMs = run.timing?.finishedAtMs ?? 0;
  if (run.status === RunStatus.CANCELLED || run.cancelRequested) return { state: 'cancelled', closedAtMs };
  const code = run.error?.code ?? run.ending?.code;
  return { state: code === 'no_answer' ? 'expired' : 'answered', closedAtMs };
}

function receiptOf(receipt: Receipt, names: AskedNames): GivenAnswer {
  const agreed = receipt.votes.map(({ actor }) => partyWords(actor));
  const given = givenBy({ ...receipt, atMs: receipt.answeredAtMs }, names);
  return agreed.length > 1 ? { ...given, agreed } : given;
}

function givenBy(
  { actor, channel, atMs, answerJson, comment }: Pick<Vote, 'actor' | 'channel' | 'atMs' | 'answerJson' | 'comment'>,
  { contentOnDevices }: AskedNames,
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
