// Chooses the receivers of an event and plans its deliveries: to the run's own URL, and to the endpoints of its
// organization that take it.
import type { DeliveryId } from '@methods/base/ids';
import { HOST_LENGTH_MAX } from '@methods/webhook-url/check-webhook-url';
import type { PlannedDelivery } from './delivery.ts';
import { type EndpointTarget, kindOf, takes } from './endpoint-target.ts';
import {
  type DeliveredChange,
  type DeliveredEvent,
  isDelivered,
  type Question,
  type RunChange,
  type RunEvent,
} from './run-event.ts';
import { deviceBody, webhookBody } from './webhook-body.ts';

/**
 * For an endpoint: an organization has many, and each gets a separate body. In a larger body the content is left out.
 */
const ENDPOINT_BODY_BYTES_MAX = 128 << 10;
/** For texts in a body without its content. */
const TEXT_CHARACTERS_MAX = 1_000;

/** `newId` creates ids; if the same event was stored before, the stored rows and their ids stay. */
export function planDeliveries(
  event: RunEvent,
  endpoints: readonly EndpointTarget[],
  newId: () => DeliveryId,
): readonly PlannedDelivery[] {
  if (!isDelivered(event)) return [];
  const own = chooseAnswerer(event).application ? [ownDelivery(event, newId())] : [];
  const taking = endpoints.filter((target) => takes(target, event.change.event));
  return [...own, ...taking.map((target) => endpointDelivery(event, target, newId()))];
}

function ownDelivery(event: DeliveredEvent, deliveryId: DeliveryId): PlannedDelivery {
  return {
    ...factsOf(event, deliveryId),
    url: event.webhookUrl,
    endpointId: '',
    kind: 'webhook',
    host: hostOf(event.webhookUrl),
    keyId: event.keyId,
    body: event.onDevice ? deviceBody(event) : webhookBody(event, deliveryId),
  };
}

function endpointDelivery(event: DeliveredEvent, target: EndpointTarget, deliveryId: DeliveryId): PlannedDelivery {
  const { change } = event;
  const isForPeople = 'question' in change && change.question.rules?.forPeople === true;
  const isChat = target.format !== 'webhook';
  // Only chats have an answer button, and they name the method.
  const more = [
    ...(isForPeople && isChat ? [['people_only', 'true'] as const] : []),
    ...(event.onDevice && isChat ? [['on_device', 'true'] as const] : []),
  ];
  const bodyOf = (of: DeliveredEvent) =>
    event.onDevice && !isChat ? deviceBody(of) : webhookBody(of, deliveryId, more);
  const whole = bodyOf(event);
  const fits = whole.length <= ENDPOINT_BODY_BYTES_MAX;
  return {
    ...factsOf(event, deliveryId),
    url: '',
    endpointId: target.endpointId,
    kind: kindOf(target),
    host: hostOf(target.url),
    keyId: '',
    body: fits ? whole : bodyOf(withoutContent(event)),
  };
}

function factsOf({ orgId, runId, seq, change, createdAtMs }: DeliveredEvent, deliveryId: DeliveryId) {
  return { orgId, deliveryId, runId, seq, event: change.event, createdAtMs };
}

function withoutContent(event: DeliveredEvent): DeliveredEvent {
  return { ...event, contentLeftOut: true, change: lightChange(event.change) };
}

function lightChange(change: DeliveredChange): DeliveredChange {
  switch (change.event) {
    case 'succeeded':
      return { ...change, resultJson: '' };
    case 'failed':
      return { ...change, error: { ...change.error, message: change.error.message.slice(0, TEXT_CHARACTERS_MAX) } };
    case 'cancelled':
      return change;
    default: {
      const { sealed: _, ...question } = change.question;
      const prompt = question.prompt.slice(0, TEXT_CHARACTERS_MAX);
      return { ...change, question: { ...question, prompt, details: '', show: [], formJson: '' } };
    }
  }
}

/**
 * A URL that cannot be parsed, or whose host is too long for the index, is stored anyway: its tries fail where the
 * operator sees it.
 */
function hostOf(url: string): string {
  try {
    const { hostname } = new URL(url);
    return hostname.length > HOST_LENGTH_MAX ? '' : hostname;
  } catch {
    return '';
  }
}

/** Chooses who is notified of an event: the application through its webhook, the people who answer, both or neither. */
interface Told {
  /** By the run's webhook; reminders go only to endpoints of the organization. */
  readonly application: boolean;
  /** Only for questions that people answer: those for the team, and those that no program may answer. */
  readonly team: boolean;
}

/** With both a webhook and the team, both are notified, and the first answer counts. */
export function chooseAnswerer({ webhookUrl, answerBy, change }: RunEvent): Told {
  return {
    application: webhookUrl !== '' && !change.event.startsWith('question.'),
    team: 'question' in change && isForPeople(change, answerBy),
  };
}

function isForPeople(change: RunChange & { readonly question: Question }, answerBy: RunEvent['answerBy']): boolean {
  // Escalations and assignments are always for people.
  if (change.event === 'question.escalated' || change.event === 'question.assigned') return true;
  return answerBy === 'team' || (change.question.rules?.forPeople ?? false);
}
