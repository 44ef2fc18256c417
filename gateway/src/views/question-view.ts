// Writes questions with their rules, and the receipts of their answers, as the documented JSON.
import type { ChannelName } from '@methods/api/question';
import { type Actor, AnswerChannel, type Question, type Receipt, type Vote } from '@methods/proto/run/v1/run_pb';
import { jsonString, jsonTime, sealedJson } from './content-view.ts';

const CHANNELS: Record<AnswerChannel, ChannelName> = {
  [AnswerChannel.UNSPECIFIED]: 'unknown',
  [AnswerChannel.API]: 'api',
  [AnswerChannel.CLI]: 'cli',
  [AnswerChannel.INBOX]: 'inbox',
  [AnswerChannel.LINK]: 'link',
  [AnswerChannel.CHAT]: 'chat',
  [AnswerChannel.HANDLER]: 'handler',
  [AnswerChannel.MCP]: 'mcp',
  [AnswerChannel.TIMEOUT]: 'timeout',
};

/** JSON texts are passed on unchanged, since parsing them would round large numbers. */
export function openQuestionJson(asked: Question): string {
  if (asked.sealed.length > 0) {
    return (
      `{"id":${jsonString(asked.id)},"step":${jsonString(asked.step)},"sealed":${sealedJson(asked.sealed)},` +
      `"asked_at":${jsonTime(asked.askedAtMs)},"deadline_at":${jsonTime(asked.deadlineAtMs)}}`
    );
  }
  const show = asked.show.map(({ path, valueJson }) => `{"path":${jsonString(path)},"value":${valueJson || 'null'}}`);
  return (
    `{"id":${jsonString(asked.id)},"step":${jsonString(asked.step)},"prompt":${jsonString(asked.prompt)},` +
    `${asked.details === '' ? '' : `"details":${jsonString(asked.details)},`}"show":[${show.join(',')}],` +
    `"form":${asked.formJson || '{}'},"asked_at":${jsonTime(asked.askedAtMs)},` +
    `"deadline_at":${jsonTime(asked.deadlineAtMs)}${peopleJson(asked)}}`
  );
}

function peopleJson({ policy, votes, assignee, delegations, escalatedAtMs }: Question): string {
  const parts: string[] = [];
  if (policy !== undefined && policy.to.length > 0) parts.push(`"to":${JSON.stringify(policy.to)}`);
  if (policy?.notStarter) parts.push('"not_starter":true');
  if (policy !== undefined && policy.needs > 0) {
    parts.push(`"needs":${JSON.stringify({ count: policy.needs, on: policy.needsOn })}`);
    parts.push(`"votes":[${votes.map(voteJson).join(',')}]`);
  }
  if (assignee !== '') parts.push(`"assignee":${jsonString(assignee)}`);
  if (delegations.length > 0) {
    const given = delegations.map(
      ({ from, to, atMs }) => `{"from":${partyJson(from)},"to":${partyJson(to)},"at":${jsonTime(atMs)}}`,
    );
    parts.push(`"delegations":[${given.join(',')}]`);
  }
  if (escalatedAtMs > 0) {
    const to = JSON.stringify(policy?.escalateTo ?? []);
    parts.push(`"escalated":{"at":${jsonTime(escalatedAtMs)},"to":${to}}`);
  }
  return parts.map((part) => `,${part}`).join('');
}

export function receiptJson(receipt: Receipt): string {
  const { questionId, step, prompt, askedAtMs, answeredAtMs, comment, answerJson, formHash, versionHash } = receipt;
  const votes = receipt.votes.map(voteJson);
  return (
    `{"question_id":${jsonString(questionId)},"step":${jsonString(step)},"prompt":${jsonString(prompt)},` +
    `"asked_at":${jsonTime(askedAtMs)},"answered_at":${jsonTime(answeredAtMs)},` +
    `"by":${partyJson(receipt.actor)},"channel":"${channelName(receipt.channel)}"` +
    `${comment === '' ? '' : `,"comment":${jsonString(comment)}`}${answerJson === '' ? '' : `,"answer":${answerJson}`}` +
    `${formHash === '' ? '' : `,"form_sha256":"${formHash}"`}` +
    `${versionHash === '' ? '' : `,"version_sha256":"${versionHash}"`}` +
    `${votes.length === 0 ? '' : `,"votes":[${votes.join(',')}]`}}`
  );
}

function voteJson({ actor, answerJson, atMs, channel, comment }: Vote): string {
  return (
    `{"by":${partyJson(actor)},"at":${jsonTime(atMs)},"channel":"${channelName(channel)}"` +
    `${comment === '' ? '' : `,"comment":${jsonString(comment)}`}${answerJson === '' ? '' : `,"answer":${answerJson}`}}`
  );
}

export function channelName(channel: AnswerChannel): string {
  return CHANNELS[channel] ?? CHANNELS[AnswerChannel.UNSPECIFIED];
}

/** Null: unknown, or there is none. */
export function partyJson(actor: Actor | undefined): string {
  if (actor === undefined) return 'null';
  const { personId, keyId, email, name, linkRecipient, client } = actor;
  if (keyId !== '') return JSON.stringify({ kind: 'service_key', id: keyId, ...(name && { name }) });
  const known = {
    ...(personId && { id: personId }),
    ...(name && { name }),
    ...(email && { email }),
    ...(client && { client }),
  };
  if (linkRecipient !== '') return JSON.stringify({ kind: 'link', recipient: linkRecipient, ...known });
  return JSON.stringify({ kind: 'user', ...known });
}
