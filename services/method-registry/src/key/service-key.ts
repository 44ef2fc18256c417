// A service key as the registry stores it (never the key, only its hash), and the webhook secrets of its runs.

import { open, seal } from '@methods/auth/secret-box';
import { createWebhookSecret } from '@methods/auth/webhook-signature';
import type { KeyId, OrgId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Party } from '../audit/audit-entry.ts';

export interface ServiceKey {
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  readonly name: string;
  readonly createdAt: Date;
  readonly createdBy: Party;
  readonly revokedAt: Date | null;
  /** To the minute; null: never used. */
  readonly lastUsedAt: Date | null;
}

/** The content part of another key, wrapped for the key that it is granted to. */
export interface ContentGrant {
  readonly fromKeyId: KeyId;
  readonly wrapped: Uint8Array;
}

export interface KeyUse {
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  readonly usedAt: Date;
}

/**
 * Creates, seals and opens webhook secrets. A secret must be readable for signing, so it is stored encrypted under
 * SECRETS_KEY and bound to its key's row: a copy in another row does not open.
 */
export interface WebhookSecrets {
  /** Returns a new secret: in clear text for the only reply that holds it, and sealed for the store. */
  create(orgId: OrgId, keyId: KeyId): { readonly secret: string; readonly sealed: Buffer };
  /** @throws SecretBoxError when it was sealed for another key or under another SECRETS_KEY. */
  open(orgId: OrgId, keyId: KeyId, sealed: Buffer): string;
}
export const WebhookSecrets: InjectionToken<WebhookSecrets> = Symbol('WebhookSecrets');

/** `masterKey` has 32 bytes. */
export function sealedWebhookSecrets(masterKey: Buffer): WebhookSecrets {
  const place = (orgId: OrgId, keyId: KeyId) => `webhook-secret:${orgId}:${keyId}`;
  return {
    create(orgId, keyId) {
      const secret = createWebhookSecret();
      return { secret, sealed: seal(masterKey, secret, place(orgId, keyId)) };
    },
    open: (orgId, keyId, sealed) => open(masterKey, sealed, place(orgId, keyId)),
  };
}
