// The content keys that a worker names in its hello. The service never sees such a key: it knows whose it is, and whom
// its owner granted it to.
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { DeviceKey, QueueKey } from '../store/queue-key.ts';
import type { KeyOwner } from './worker-keys.ts';

/** The worker's own, and as many as may be granted to one key. */
const DEVICE_KEYS_MAX = 21;
const FINGERPRINT_BYTES = 16;

interface NamedKeys {
  readonly deviceKeyIds: readonly string[];
  readonly deviceKeyFingerprints: readonly Uint8Array[];
}

/** Returns null if they are malformed. */
export function deviceKeysOf({ deviceKeyIds: ids, deviceKeyFingerprints }: NamedKeys): DeviceKey[] | null {
  if (ids.length > DEVICE_KEYS_MAX || ids.length !== deviceKeyFingerprints.length) return null;
  const keys: DeviceKey[] = [];
  for (const [i, keyId] of ids.entries()) {
    const fingerprint = deviceKeyFingerprints[i];
    if (!isId('key', keyId) || fingerprint?.length !== FINGERPRINT_BYTES || ids.indexOf(keyId) !== i) return null;
    keys.push({ keyId, fingerprint: Buffer.from(fingerprint).toString('hex') });
  }
  return keys;
}

/** Returns null if the worker's key has all of these. @throws ServiceError forbidden, as a rejection */
export function missingKeys(
  keys: readonly DeviceKey[],
  owner: KeyOwner & { readonly askAgain: () => Promise<KeyOwner> },
): Promise<void> | null {
  return hasAll(owner, keys) ? null : askedAgain(keys, owner.askAgain);
}

async function askedAgain(keys: readonly DeviceKey[], askAgain: () => Promise<KeyOwner>): Promise<void> {
  if (hasAll(await askAgain(), keys)) return;
  throw new ServiceError('forbidden', 'The worker names a content key that its service key was not granted.');
}

function hasAll({ keyId: own, contentGrants = [] }: KeyOwner, keys: readonly DeviceKey[]): boolean {
  return keys.every(({ keyId }) => keyId === own || contentGrants.some(({ fromKeyId }) => fromKeyId === keyId));
}

/** Reports whether the queue is of runs that were sealed with a content key of this service key. */
export function isOfDeviceKey({ method }: QueueKey, keyId: string): boolean {
  return method.includes(`@${keyId}.`);
}
