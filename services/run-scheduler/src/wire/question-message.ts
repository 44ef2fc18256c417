// Converts questions, their rules and the receipts of their answers to messages.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AnswerPolicySchema, QuestionSchema, ReceiptSchema, VoteSchema } from '@methods/proto/run/v1/run_pb';
import type { AnswerPolicy } from '../run/policy.ts';
import type { Receipt } from '../run/receipt.ts';
import type { OpenQuestion } from '../run/run.ts';
import type { Vote } from '../run/votes.ts';
import { channelNumber, partyMessage } from './party-message.ts';

export function questionMessage(question: OpenQuestion): MessageInitShape<typeof QuestionSchema> {
  const { policy, votes = [], delegations = [] } = question;
  return {
    id: question.id,
    step: question.step,
    prompt: question.prompt,
    details: question.details,
    show: question.show.map((shown) => ({ path: shown.path, valueJson: shown.valueJson })),
    formJson: question.formJson,
    askedAtMs: question.askedAtMs,
    deadlineAtMs: question.deadlineAtMs ?? 0,
    ...(policy && { policy: policyMessage(policy) }),
    votes: votes.map((vote) => ({ ...voteMessage(vote), answerJson: vote.answerJson })),
    assignee: question.assignee ?? '',
    delegations: delegations.map(({ from, to, atMs }) => ({ from: partyMessage(from), to: partyMessage(to), atMs })),
    escalatedAtMs: question.escalatedAtMs ?? 0,
    formSha256: question.formSha256 ?? '',
    versionSha256: question.versionSha256 ?? '',
  };
}

export function receiptMessage(receipt: Receipt): MessageInitShape<typeof ReceiptSchema> {
  const { by, channel, votes = [] } = receipt;
  return {
    questionId: receipt.questionId,
    step: receipt.step,
    prompt: receipt.prompt,
    askedAtMs: receipt.askedAtMs,
    ...(by && { actor: partyMessage(by) }),
    channel: channelNumber(channel),
    answeredAtMs: receipt.answeredAtMs,
    comment: receipt.comment,
    formHash: receipt.formSha256,
    versionHash: receipt.versionSha256,
    answerJson: receipt.answerJson,
    votes: votes.map(voteMessage),
  };
}

function voteMessage({ by, atMs, channel, comment }: Omit<Vote, 'answerJson'>): MessageInitShape<typeof VoteSchema> {
  return { actor: partyMessage(by), atMs, channel: channelNumber(channel), comment };
}

function policyMessage(policy: AnswerPolicy): MessageInitShape<typeof AnswerPolicySchema> {
  const { needs, escalate } = policy;
  return {
    to: [...policy.to],
    notStarter: policy.notStarter,
    needs: needs?.count ?? 0,
    needsOn: [...(needs?.on ?? [])],
    remindMs: [...policy.remindMs],
    escalateAfterMs: escalate?.afterMs ?? 0,
    escalateTo: [...(escalate?.to ?? [])],
    timeoutAnswerJson: policy.timeoutAnswerJson ?? '',
  };
}
