// Makes, seals and opens what an endpoint's webhooks are sent by: its URL and its secrets. Each is bound to its place,
// so that one moved to another row or column does not open.
import { open, seal } from '@methods/auth/secret-box';
import { createWebhookSecret } from '@methods/auth/webhook-signature';
import type { EndpointId, OrgId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';

export interface EndpointPlace {
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
