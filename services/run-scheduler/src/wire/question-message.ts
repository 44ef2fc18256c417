// Converts questions, their rules, their people and the receipts of their answers to messages and back.
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type Actor,
  type ActorSchema,
  AnswerChannel,
  type AnswerPolicySchema,
  type QuestionSchema,
  type ReceiptSchema,
  type VoteSchema,
} from '@methods/proto/run/v1/run_pb';
import { type Channel, isRole, type Party } from '../run/party.ts';
import type { AnswerPolicy } from '../run/policy.ts';
import type { Receipt, Vote } from '../run/receipt.ts';
import type { OpenQuestion } from '../run/run.ts';

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
    votes: votes.map((vote) => ({ answerJson: vote.answerJson, ...voteMessage(vote) })),
    assignee: question.assignee ?? '',
    delegations: delegations.map(({ from, to, atMs }) => ({ from: partyMessage(from), to: partyMessage(to), atMs })),
    escalatedAtMs: question.escalatedAtMs ?? 0,
    formSha256: question.formSha256 ?? '',
    versionSha256: question.versionSha256 ?? '',
    ...(question.sealed !== undefined && { sealed: Buffer.from(question.sealed, 'base64') }),
    ...(question.hasTimeoutAnswer && { hasTimeoutAnswer: true }),
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

// Converts the people and programs that start and answer runs to their messages and back, and channels to their numbers.

const CHANNEL = {
  api: AnswerChannel.API,
  cli: AnswerChannel.CLI,
  inbox: AnswerChannel.INBOX,
  link: AnswerChannel.LINK,
  chat: AnswerChannel.CHAT,
  handler: AnswerChannel.HANDLER,
  mcp: AnswerChannel.MCP,
  timeout: AnswerChannel.TIMEOUT,
} as const satisfies Record<Channel, AnswerChannel>;

/** Returns null if there is none, or if it names no one. */
export function partyOf(actor: MessageInitShape<typeof ActorSchema> | undefined): Party | null {
  const { personId = '', keyId = '', email = '', name = '', role = '', linkRecipient = '', client = '' } = actor ?? {};
  if (personId === '' && keyId === '' && email === '' && linkRecipient === '') return null;
  return {
    personId,
    keyId,
    email,
    name,
    role: isRole(role) ? role : '',
    linkRecipient,
    ...(client !== '' && { client }),
  };
}

export function partyMessage(party: Party): Omit<Actor, '$typeName' | '$unknown'> {
  return { client: '', ...party };
}

export function channelNumber(channel: Channel | null): AnswerChannel {
  return channel === null ? AnswerChannel.UNSPECIFIED : CHANNEL[channel];
}

/** Returns null for an unknown channel. A time-out has no sender. */
export function channelName(number: AnswerChannel): Exclude<Channel, 'timeout'> | null {
  for (const [name, known] of Object.entries(CHANNEL)) {
    if (known === number && name !== 'timeout') return name as Exclude<Channel, 'timeout'>;
  }
  return null;
}
