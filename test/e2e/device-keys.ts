// Service keys with their content parts, for tests of device mode.
import assert from 'node:assert/strict';
import { createServiceKey, parseBearerKey } from '@methods/auth/service-key';
import type { KeyId } from '@methods/base/ids';
import { TEST_DOER } from '../harness/test-doer.ts';
import type { Stack } from './stack.ts';

export interface WholeKey {
  readonly key: string;
  readonly keyId: KeyId;
  readonly authPart: string;
  readonly contentPart: string;
}

export async function newWholeKey(stack: Stack, name = 'device'): Promise<WholeKey> {
  const { key, authPart, authSha256 } = createServiceKey();
  const orgId = stack.ready.org_id;
  const made = await stack.registry.createServiceKey({ orgId, name, authSha256, doer: TEST_DOER });
  const contentPart = parseBearerKey(key)?.contentPart ?? assert.fail();
  return { key, keyId: (made.key?.keyId ?? '') as KeyId, authPart, contentPart };
}
