// One try of one delivery: sign the stored bytes, check the target, post, and return the outcome.

import { signatureHeader } from '@methods/auth/webhook-signature';
import type { Clock } from '@methods/base/clock';
import type { EndpointId, KeyId, OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import type { WebhookUrlPolicy } from '@methods/webhook-url/check-webhook-url';
import type { ChatFormat, ChatMessage } from '../chat/chat-message.ts';
import { hideSecrets } from '../chat/hide-secrets.ts';
import type { ClaimedDelivery, DeliveryTry } from '../delivery/delivery.ts';
import { type EndpointTarget, secretsOf } from '../delivery/endpoint-target.ts';
import type { AddressPlaces } from './address-places.ts';
import type { HostResolver } from './host-resolver.ts';
import { postWebhook, type WebhookAnswer } from './post-webhook.ts';
import type { RegistryAnswers } from './registry-answers.ts';
import { TryFailed } from './try-failed.ts';
import { resolveTarget, type WebhookTarget } from './webhook-target.ts';

export type TryOutcome =
  | {
      readonly kind: 'tried';
      readonly result: DeliveryTry;
      /** Its endpoint is gone or paused: there is no further try. */
      readonly isLast?: boolean;
    }
  /**
   * Nothing was sent and the try does not count: the registry is unavailable, its address is full, or this node stops.
   */
  | { readonly kind: 'postponed'; readonly reason: string };

export interface WebhookSenderOptions {
  readonly policy: WebhookUrlPolicy;
  /** By organization and key. */
  readonly secrets: Pick<RegistryAnswers<[orgId: OrgId, keyId: KeyId | ''], string>, 'get'>;
  readonly endpoints: Pick<RegistryAnswers<[orgId: OrgId], readonly EndpointTarget[]>, 'get'>;
  /** Builds the message of a chat. Rejects also while what it needs is unavailable. */
  readonly chatMessage: (delivery: ClaimedDelivery, format: ChatFormat, name: string) => Promise<ChatMessage>;
  /** Host names the organization sends webhooks to; empty: any. */
  readonly hosts: Pick<RegistryAnswers<[orgId: OrgId], readonly string[]>, 'get'>;
  readonly resolve: HostResolver;
  readonly places: Pick<AddressPlaces, 'enter'>;
  /** Reports whether a fault ends by itself, so that the try does not count. */
  readonly isPassing: (error: unknown) => boolean;
  readonly clock: Clock;
  /** For resolving, connecting, sending and the answer together. */
  readonly timeoutMs: number;
  /** PEM certificates trusted in place of the system's. */
  readonly trustedCertificates?: string | undefined;
  readonly logger: Logger;
}

/** The registry's time is not the receiver's; both together stay below a delivery's claim. */
const REGISTRY_WAIT_MS_MAX = 3_000;
/**
 * A receiver that has sent its status has decided; its body is worth only a short wait. Shorter after a 2xx: if this
 * process ends before that is recorded, the webhook is sent again.
 */
const ANSWER_BODY_WAIT_MS = 1_000;
const ANSWER_BODY_WAIT_AFTER_2XX_MS = 250;

export class WebhookSender {
  constructor(private readonly options: WebhookSenderOptions) {}

  /** Never rejects. `stop` ends a try early; it is then postponed. */
  async send(delivery: ClaimedDelivery, stop: AbortSignal): Promise<TryOutcome> {
    const { clock, timeoutMs } = this.options;
    const startedAtMs = clock.wallMs();
    const started = clock.monotonicMs();
    const tried = (httpStatus: number, error: string, answerStart: string, isLast = false): TryOutcome => ({
      kind: 'tried',
      isLast,
      result: { startedAtMs, durationMs: Math.round(clock.monotonicMs() - started), httpStatus, error, answerStart },
    });
    let rules: SendRules;
    try {
      rules = await within(Math.min(REGISTRY_WAIT_MS_MAX, timeoutMs), clock, stop, () => this.rulesOf(delivery));
    } catch (error) {
      if (error instanceof NoEndpoint) return tried(0, error.message, '', true);
      if (error instanceof TryFailed && !stop.aborted && error.message !== 'timeout')
        return tried(0, error.message, '');
      if (!(error instanceof ServiceError && error.code === 'not_found'))
        return { kind: 'postponed', reason: 'no signing secret, endpoint or rules' };
      return tried(0, new TryFailed('signing_secret_missing').message, '');
    }
    let leave: (() => void) | null = null;
    try {
      const beganMs = clock.monotonicMs();
      const target = await this.targetOf(rules, stop);
      const leftMs = Math.max(1, Math.round(timeoutMs - (clock.monotonicMs() - beganMs)));
      leave = await this.options.places.enter(delivery.orgId, target.addresses, stop);
      if (leave === null) return { kind: 'postponed', reason: 'its address has enough to do' };
      const untilMs = clock.monotonicMs() + leftMs;
      const answer = await this.post(delivery, rules, target, leftMs, stop);
      const delivered = answer.httpStatus >= 200 && answer.httpStatus <= 299;
      const worthMs = delivered ? ANSWER_BODY_WAIT_AFTER_2XX_MS : ANSWER_BODY_WAIT_MS;
      const bodyWaitMs = Math.max(0, Math.min(worthMs, untilMs - clock.monotonicMs()));
      return tried(answer.httpStatus, '', rules.shown(await answer.readStart(bodyWaitMs)));
    } catch (error) {
      if (stop.aborted) return { kind: 'postponed', reason: 'stopping' };
      return tried(0, error instanceof TryFailed ? error.message : new TryFailed('bad_answer').message, '');
    } finally {
      leave?.();
    }
  }

  private async rulesOf(delivery: ClaimedDelivery): Promise<SendRules> {
    const { endpointId, orgId } = delivery;
    const [destination, hosts] = await Promise.all([
      endpointId === '' ? this.ownUrl(delivery) : this.endpoint(delivery, endpointId),
      this.options.hosts.get(orgId),
    ]);
    return { ...destination, hosts };
  }

  private async ownUrl({ orgId, keyId, url, body }: ClaimedDelivery): Promise<Destination> {
    return { url, body, secrets: [await this.options.secrets.get(orgId, keyId)], shown: (answer) => answer };
  }

  private async endpoint(delivery: ClaimedDelivery, endpointId: EndpointId): Promise<Destination> {
    const { endpoints, chatMessage, isPassing, clock, logger } = this.options;
    const target = (await endpoints.get(delivery.orgId)).find((each) => each.endpointId === endpointId);
    if (target === undefined) throw new NoEndpoint('endpoint_removed');
    if (target.paused) throw new NoEndpoint('endpoint_paused');
    const { url, name, format } = target;
    if (format === 'webhook') {
      const secrets = secretsOf(target, clock.wallMs());
      return { url, body: delivery.body, secrets, shown: (answer) => answer };
    }
    const { body, secrets } = await chatMessage(delivery, format, name).catch((error: unknown) => {
      if (isPassing(error)) throw error;
      logger.warn({ error, org_id: delivery.orgId, delivery_id: delivery.deliveryId }, 'a chat message failed');
      throw new TryFailed('message_failed');
    });
    // The URL of a chat is secret, and so is the link in a message: neither is stored if an answer repeats them.
    const shown = (answer: string) => hideSecrets(answer, [...urlSecrets(url), ...secrets]);
    return { url, body, secrets: [], shown };
  }

  private targetOf({ url, hosts }: SendRules, stop: AbortSignal): Promise<WebhookTarget> {
    const { policy, resolve, clock, timeoutMs } = this.options;
    return within(timeoutMs, clock, stop, () => resolveTarget(url, { policy, hosts }, resolve));
  }

  private post(
    delivery: ClaimedDelivery,
    { secrets, body }: SendRules,
    target: WebhookTarget,
    timeoutMs: number,
    stop: AbortSignal,
  ): Promise<WebhookAnswer> {
    const { clock, trustedCertificates } = this.options;
    const signature = () => signatureHeader(secrets, Math.floor(clock.wallMs() / 1000), body);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'methods-webhooks/1',
      ...(secrets.length === 0 ? {} : { 'Service-Signature': signature() }),
      'Service-Event': delivery.event,
      'Service-Delivery': delivery.deliveryId,
    };
    return within(timeoutMs, clock, stop, (signal) =>
      postWebhook(target, headers, body, { signal, timeoutMs, trustedCertificates }),
    );
  }
}

/** The target of a try, its content, and the part of the answer that is stored. */
interface Destination {
  readonly url: string;
  readonly body: Buffer;
  /** All of them sign; none for a chat. */
  readonly secrets: readonly string[];
  readonly shown: (answer: string) => string;
}

interface SendRules extends Destination {
  readonly hosts: readonly string[];
}

class NoEndpoint extends TryFailed {}

/** The parts that reveal a chat's URL. A path of a few characters does not. */
function urlSecrets(url: string): string[] {
  const { pathname, search } = new URL(url);
  return pathname.length + search.length > 6 ? [url, `${pathname}${search}`] : [];
}

/** Ends with the work, after `timeoutMs`, or at `stop`, whichever is first; even for work that cannot be stopped. */
async function within<Result>(
  timeoutMs: number,
  clock: Clock,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const end = () => ending.abort(new TryFailed('timeout'));
  const timer = clock.after(timeoutMs, end);
  stop.addEventListener('abort', end);
  if (stop.aborted) end();
  try {
    return await new Promise<Result>((resolve, reject) => {
      ending.signal.addEventListener('abort', () => reject(ending.signal.reason));
      ending.signal.throwIfAborted();
      work(ending.signal).then(resolve, reject);
    });
  } finally {
    timer.cancel();
    stop.removeEventListener('abort', end);
  }
}
