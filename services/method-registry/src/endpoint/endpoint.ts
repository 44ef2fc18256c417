// An organization's endpoint: its target for events of all runs, the events it takes, and its secrets.

import { open, seal } from '@methods/auth/secret-box';
import { createWebhookSecret } from '@methods/auth/webhook-signature';
import type { EndpointId, OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { InjectionToken } from 'tsyringe';
import type { Party } from '../audit/audit-entry.ts';

/** Every event that an endpoint may take. */
const ENDPOINT_EVENTS = [
  'needs_input',
  'question.reminded',
  'question.escalated',
  'succeeded',
  'failed',
  'cancelled',
] as const;
export type EndpointEvent = (typeof ENDPOINT_EVENTS)[number];

const ENDPOINT_FORMATS = ['webhook', 'slack', 'teams'] as const;
export type EndpointFormat = (typeof ENDPOINT_FORMATS)[number];

export const ENDPOINTS_MAX = 20;
/** How long an earlier secret may also sign. */
const OVERLAP_MS_MAX = 7 * 86_400_000;

export interface Endpoint {
  readonly orgId: OrgId;
  readonly endpointId: EndpointId;
  readonly name: string;
  readonly format: EndpointFormat;
  /** What people see of the URL. */
  readonly shownUrl: string;
  readonly events: readonly EndpointEvent[];
  readonly paused: boolean;
  readonly createdAt: Date;
  readonly createdBy: Party;
  /** The time until which an earlier secret also signs; null: none does. */
  readonly earlierUntil: Date | null;
}

/** Includes the sealed URL and secrets with which its webhooks are sent. */
export interface SealedTarget extends Pick<Endpoint, 'orgId' | 'endpointId' | 'name' | 'format' | 'events' | 'paused'> {
  readonly sealedUrl: Buffer;
  readonly sealedSecret: Buffer;
  /** Newest first. */
  readonly earlier: readonly { readonly sealed: Buffer; readonly until: Date }[];
  readonly changedAt: Date;
}

/** @throws ServiceError invalid_request. */
export function endpointFormat(text: string): EndpointFormat {
  const format = ENDPOINT_FORMATS.find((known) => known === text);
  if (format === undefined) throw refused('format', `format is ${ENDPOINT_FORMATS.join(', ')}.`);
  return format;
}

/** Each once, in the order of the list above. @throws ServiceError invalid_request. */
export function endpointEvents(names: readonly string[]): readonly EndpointEvent[] {
  const unknown = names.find((name) => !ENDPOINT_EVENTS.some((known) => known === name));
  if (unknown !== undefined || names.length === 0) {
    throw refused('events', `events has at least one of ${ENDPOINT_EVENTS.join(', ')}.`);
  }
  return ENDPOINT_EVENTS.filter((event) => names.includes(event));
}

/** @throws ServiceError invalid_request. */
export function overlapMs(ms: number): number {
  if (ms > OVERLAP_MS_MAX) throw refused('overlap_ms', `overlap_ms is at most ${OVERLAP_MS_MAX}, 7 days.`);
  return ms;
}

/** The whole URL of a chat is a secret; of other URLs the query may be one. */
export function shownUrl(format: EndpointFormat, url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw refused('url', 'The URL cannot be read.');
  }
  if (format !== 'webhook') return `${parsed.origin}/…`;
  return `${parsed.origin}${parsed.pathname}${parsed.search === '' ? '' : '?…'}`;
}

function refused(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, { findings: [{ path: `/${field}`, code: field, message }] });
}

/**
 * Creates, seals and opens an endpoint's URL and secrets. Each is bound to its place, so that a copy in another row or
 * column does not open.
 */
interface EndpointPlace {
  readonly orgId: OrgId;
  readonly endpointId: EndpointId;
}

export interface EndpointSecrets {
  createSecret(place: EndpointPlace): { readonly secret: string; readonly sealed: Buffer };
  sealUrl(place: EndpointPlace, url: string): Buffer;
  /** @throws SecretBoxError when it was sealed for another place or under another SECRETS_KEY. */
  openSecret(place: EndpointPlace, sealed: Buffer): string;
  openUrl(place: EndpointPlace, sealed: Buffer): string;
}
export const EndpointSecrets: InjectionToken<EndpointSecrets> = Symbol('EndpointSecrets');

/** `masterKey` has 32 bytes. */
export function sealedEndpointSecrets(masterKey: Buffer): EndpointSecrets {
  const secretOf = ({ orgId, endpointId }: EndpointPlace) => `endpoint-secret:${orgId}:${endpointId}`;
  const urlOf = ({ orgId, endpointId }: EndpointPlace) => `endpoint-url:${orgId}:${endpointId}`;
  return {
    createSecret(place) {
      const secret = createWebhookSecret();
      return { secret, sealed: seal(masterKey, secret, secretOf(place)) };
    },
    sealUrl: (place, url) => seal(masterKey, url, urlOf(place)),
    openSecret: (place, sealed) => open(masterKey, sealed, secretOf(place)),
    openUrl: (place, sealed) => open(masterKey, sealed, urlOf(place)),
  };
}
