// Plans everything that an event causes: webhooks, messages to chats, mail, and whether its question is open.
import { newId, type QuestionId } from '@methods/base/ids';
import type { EndpointTarget } from '../delivery/endpoint-target.ts';
import { planDeliveries } from '../delivery/plan-delivery.ts';
import type { RunEvent } from '../delivery/run-event.ts';
import { planMail } from '../email/mail-plan.ts';
import type { PlannedEvent } from '../store/store-events.ts';

/** `mails`: people are asked by mail. */
export function planEvent(event: RunEvent, endpoints: readonly EndpointTarget[], mails: boolean): PlannedEvent {
  const { orgId, runId, change, answerBy } = event;
  const deliveries = planDeliveries(event, endpoints, () => newId('dlv'));
  if (change.event === 'question.closed') {
    const isForTeam = mails && (answerBy === 'team' || change.askedPeople);
    const questionId = change.questionId as QuestionId;
    return { deliveries, question: { orgId, runId, questionId, isClosed: true, isForTeam } };
  }
  const mail = mails ? planMail(event, newId('dlv')) : null;
  if (mail === null || !('question' in change)) return { deliveries, question: null };
  const questionId = change.question.id as QuestionId;
  return {
    deliveries: [...deliveries, mail],
    question: { orgId, runId, questionId, isClosed: false, isForTeam: true },
  };
}
