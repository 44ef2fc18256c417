// A service key as the registry knows it: never the key, only what recognizes it.
import type { KeyId, OrgId } from '@methods/base/ids';
import type { Party } from '../audit/doer.ts';

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

export interface KeyUse {
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  readonly usedAt: Date;
}
