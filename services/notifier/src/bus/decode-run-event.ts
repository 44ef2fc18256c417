// Decodes an event from the bus's bytes. An event that can never be delivered is detected here, so that it is refused
// by itself and does not delay a batch.
import { isId } from '@methods/base/ids';
import { type RunEvent as RunEventMessage, RunEventSchema } from '@methods/proto/event/v1/event_pb';
import { type Actor, Answerer, type Question as QuestionMessage } from '@methods/proto/run/v1/run_pb';
import { decoder } from '@methods/rpc/message-codec';
import type { ClosedQuestion, Person, Question, RunChange, RunEvent } from '../delivery/run-event.ts';

export type DecodedEvent =
  | { readonly ok: true; readonly outboxId: string; readonly event: RunEvent }
  /** `outboxId` is empty when even that cannot be read. `fault` holds no content. */
  | { readonly ok: false; readonly outboxId: string; readonly fault: string };

const decode = decoder(RunEventSchema);
const URL_LENGTH_MAX = 2048;

export function decodeRunEvent(bytes: Uint8Array): DecodedEvent {
  let message: RunEventMessage;
  try {
    message = decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch {
    return { ok: false, outboxId: '', fault: 'not a run event' };
  }
  const { outboxId } = message;
  const change = changeOf(message);
  const fault = faultOf(message) ?? (typeof change === 'string' ? change : null);
  if (fault !== null || typeof change === 'string') return { ok: false, outboxId, fault: fault ?? 'unknown' };
  const { orgId, runId, seq, method, versionId, webhookUrl, keyId, createdAtMs, contentLeftOut } = message;
  const answerBy = message.answerBy === Answerer.APPLICATION ? 'application' : 'team';
  const follows = message.followsSeq === 0 ? null : { seq: message.followsSeq, atMs: message.followsAtMs };
  const facts = { orgId, runId, seq, method, versionId, webhookUrl, keyId, createdAtMs, contentLeftOut };
  const starter = personOf(message.starter);
  const more = { ...(starter && { starter }), ...(message.contentId !== '' && { onDevice: true as const }) };
  return { ok: true, outboxId, event: { ...facts, answerBy, change, follows, ...more } };
}

function faultOf(message: RunEventMessage): string | null {
  if (message.outboxId === '') return 'no outbox id';
  if (!isId('org', message.orgId)) return 'malformed organization id';
  if (!isId('run', message.runId)) return 'malformed run id';
  if (message.seq === 0) return 'no seq';
  if (message.webhookUrl.length > URL_LENGTH_MAX) return 'webhook URL too long';
  // Postgres text cannot hold NUL.
  if (message.webhookUrl.includes('\u0000') || message.keyId.includes('\u0000')) return 'NUL in a text';
  if (!Number.isFinite(message.createdAtMs) || Math.abs(message.createdAtMs) > 8.64e15) return 'impossible time';
  return null;
}

function isReason(reason: string | undefined): reason is ClosedQuestion['reason'] {
  return reason === 'answered' || reason === 'expired' || reason === 'cancelled';
}

function changeOf(message: RunEventMessage): RunChange | string {
  switch (message.event) {
    case 'needs_input':
    case 'question.reminded':
    case 'question.escalated': {
      const { question, event } = message;
      if (question === undefined) return 'no question';
      return { event, question: questionOf(question) };
    }
    case 'question.assigned': {
      const { question, assigned } = message;
      const to = personOf(assigned?.to);
      if (question === undefined) return 'no question';
      return to === null
        ? 'no person'
        : { event: 'question.assigned', question: questionOf(question), to, by: nameOf(assigned?.by) };
    }
    case 'succeeded':
      return { event: 'succeeded', resultJson: message.resultJson };
    case 'failed':
      return message.error === undefined ? 'no error' : { event: 'failed', error: message.error };
    case 'cancelled':
      return { event: 'cancelled' };
    case 'question.closed': {
      const { questionId, reason, askedPeople = false } = message.closed ?? {};
      if (!questionId) return 'no question';
      return isReason(reason) ? { event: 'question.closed', questionId, reason, askedPeople } : 'unknown reason';
    }
    default:
      return 'unknown event';
  }
}

function questionOf(question: QuestionMessage): Question {
  const { id, step, prompt, details, formJson, askedAtMs, deadlineAtMs, policy, votes } = question;
  const show = question.show.map(({ path, valueJson }) => ({ path, valueJson }));
  const delegates = question.delegations.flatMap(({ to }) => personOf(to) ?? []);
  const asked = {
    ...{ id, step, prompt, details, show, formJson, askedAtMs, deadlineAtMs },
    ...(delegates.length > 0 && { delegates }),
    ...(question.sealed.length > 0 && { sealed: Buffer.from(question.sealed).toString('base64url') }),
    ...(question.hasTimeoutAnswer && { answersItself: true as const }),
  };
  if (policy === undefined) return asked;
  const { to, escalateTo, notStarter } = policy;
  return {
    ...asked,
    rules: {
      to,
      escalateTo,
      notStarter,
      forPeople: to.length > 0 || notStarter || policy.needs > 0,
      answersItself: policy.timeoutAnswerJson !== '',
      voters: votes.flatMap(({ actor }) => personOf(actor) ?? []),
    },
  };
}

/** Null: a program, or an unknown person. The recipient of a link is the person with its address. */
function personOf(actor: Actor | undefined): Person | null {
  const userId = actor !== undefined && isId('usr', actor.personId) ? actor.personId : '';
  const email =
    actor === undefined ? '' : actor.email || (actor.linkRecipient.includes('@') ? actor.linkRecipient : '');
  return userId === '' && email === '' ? null : { userId, email };
}

function nameOf(actor: Actor | undefined): string {
  return actor?.name || actor?.email || actor?.linkRecipient || '';
}
