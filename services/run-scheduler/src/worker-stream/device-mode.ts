// What device mode requires of a worker: the content keys that it names in its hello were granted to it, and the
// content of its reports is sealed. The service never sees such a key: it knows whose it is, and whom its owner granted
// it to.
import { isId } from '@methods/base/ids';
import { envelopeShape, type SealedKind, sealedTextShape } from '@methods/content/sealed-shape';
import { ServiceError } from '@methods/errors/service-error';
import type { Question, RunError } from '@methods/proto/run/v1/run_pb';
import type { Ask, StepRecord } from '@methods/proto/worker/v1/worker_service_pb';
import type { DeviceKey, QueueKey } from '../store/queue-key.ts';
import type { KeyOwner } from './worker-keys.ts';

/** The worker's own, and as many as may be granted to one key. */
const DEVICE_KEYS_MAX = 21;
const FINGERPRINT_BYTES = 16;

const OUT_BYTES_MAX = 1 << 20;
const LOG_BYTES_MAX = 256 * 1024;
const TEXT_BYTES_MAX = 64 * 1024;
const QUESTION_BYTES_MAX = 1 << 20;
const SEALED = '{"$sealed":"';

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

/**
 * Returns null if the worker's key has all of these.
 * @throws ServiceError forbidden, as a rejection; device_key_required for a person, who has no content key
 */
export function missingKeys(
  keys: readonly DeviceKey[],
  owner: KeyOwner & { readonly askAgain: () => Promise<KeyOwner> },
): Promise<void> | null {
  if (keys.length > 0 && owner.tokenSha256 !== undefined) throw new ServiceError('device_key_required');
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

/** Names, kinds, statuses and times are plain; every text that a step or a method made is an envelope or empty. */
export function isSealedRecord({ step, outJson, logTail }: StepRecord): boolean {
  const { checks = [], error } = step ?? {};
  return (
    isSealedText(outJson, 'out', OUT_BYTES_MAX) &&
    isSealedText(logTail, 'log', LOG_BYTES_MAX) &&
    checks.every(({ message }) => isSealedText(message, 'text', TEXT_BYTES_MAX)) &&
    (error === undefined ||
      (isSealedText(error.message, 'text', TEXT_BYTES_MAX) &&
        error.reason === '' &&
        error.body === '' &&
        Object.keys(error.headers).length === 0))
  );
}

/** The question of a run in device mode, in base64; null: the report has another one. */
export function sealedQuestion({ question, ensureScopeJson }: Ask): string | null {
  if (question === undefined || question.sealed.length === 0 || ensureScopeJson !== '') return null;
  const { sealed } = question;
  if (hasPlainContent(question) || envelopeShape(sealed, 'question', QUESTION_BYTES_MAX) === null) return null;
  return Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString('base64');
}

function hasPlainContent({ prompt, details, show, formJson }: Question): boolean {
  return prompt !== '' || details !== '' || show.length > 0 || formJson !== '';
}

/** Without a result: that stays with the worker. */
export function isSealedEnd(resultJson: string, error: RunError | undefined): boolean {
  return resultJson === '' && isSealedText(error?.message ?? '', 'text', TEXT_BYTES_MAX);
}

/** Plain texts, of all other runs, are not parsed. */
function isSealedText(text: string, kind: SealedKind, bytesMax: number): boolean {
  return text === '' || (text.startsWith(SEALED) && sealedTextShape(text, kind, bytesMax) !== null);
}
