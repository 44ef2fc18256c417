// Callers besides the stack's own key: a second key of its organization, and another organization with a key.

import { createServiceKey } from '@methods/auth/service-key';
import type { KeyId, OrgId } from '@methods/base/ids';
import { TEST_DOER } from '../harness/test-doer.ts';
import type { Stack } from './stack.ts';

export interface KeyOwner {
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  /** The whole key, as its owner holds it. */
  readonly key: string;
  readonly webhookSecret: string;
}

export function secondKey(stack: Stack): Promise<KeyOwner> {
  return newKey(stack, stack.ready.org_id);
}

export async function otherOrganization(stack: Stack): Promise<KeyOwner> {
  const request = { issuer: 'https://issuer.example', externalId: 'other', name: 'Another organization' };
  return newKey(stack, (await stack.registry.ensureOrganization(request)).orgId);
}

async function newKey({ registry }: Stack, orgId: OrgId): Promise<KeyOwner> {
  const { key, authSha256 } = createServiceKey();
  const made = await registry.createServiceKey({ doer: TEST_DOER, orgId, name: 'test', authSha256 });
  return { orgId, key, keyId: made.key?.keyId ?? 'key_none', webhookSecret: made.webhookSecret };
}
