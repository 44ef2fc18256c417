// The content of a start, and how a repeat of it is recognized: by what was requested, not by what that resolves to
// today, so that a later publish causes no conflict.
import { hash as hashOf, randomFillSync } from 'node:crypto';
import { canonicalDigest } from '@methods/base/canonical';
import { bareMethodId, type MethodId } from '@methods/base/ids';
import type { ServiceError } from '@methods/errors/service-error';
import type { JsonValue } from '@methods/method/json';
import type { Static } from 'typebox';
import { tooLarge } from '../../plugins/error-reply.ts';
import type { StartRunBody } from './run-schemas.ts';

export interface AskedStart {
  /** Null for an invalid id. */
  readonly methodId: MethodId | null;
  /** The `version` of the request: `published`, or the text that the caller gives as a version id. */
  readonly version: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly webhookUrl: string | null;
  readonly answerBy: 'application' | 'team';
  readonly metadata: Readonly<Record<string, string>>;
  /** Null for a start without a key. */
  readonly key: { readonly hash: Buffer; readonly digest: Buffer } | null;
}

/** An omitted field and its default are the same request. */
export function askedStart(body: Static<typeof StartRunBody>): AskedStart {
  const webhookUrl = body.webhook_url ?? null;
  const asked = {
    methodId: bareMethodId(body.method),
    version: body.version ?? 'published',
    inputs: body.inputs ?? {},
    webhookUrl,
    answerBy: body.answer_by ?? (webhookUrl === null ? 'team' : 'application'),
    metadata: body.metadata ?? {},
  };
  if (body.idempotency_key === undefined) return { ...asked, key: null };
  const hash = hashOf('sha256', body.idempotency_key, 'buffer');
  return { ...asked, key: { hash, digest: digestOf(asked) } };
}

function digestOf(asked: Omit<AskedStart, 'key'>): Buffer {
  return canonicalDigest({
    method: asked.methodId,
    version: asked.version,
    inputs: asked.inputs,
    webhook_url: asked.webhookUrl,
    answer_by: asked.answerBy,
    metadata: asked.metadata,
  });
}

const HASH_BYTES = 32;
// One system call serves a hundred starts.
let pool = Buffer.alloc(0);

/**
 * Replaces the hash of the key in a start without one: the gateway itself can repeat the start on another node without
 * starting a second run. As random as the SHA-256 of a secret, and never sent to a client.
 */
export function internalStartHash(): Buffer {
  if (pool.length < HASH_BYTES) pool = randomFillSync(Buffer.allocUnsafeSlow(100 * HASH_BYTES));
  const hash = pool.subarray(0, HASH_BYTES);
  pool = pool.subarray(HASH_BYTES);
  return hash;
}

/**
 * Measures a run's inputs including the method's defaults, since they are sent, stored and granted in this form.
 */
export const INPUTS_BYTES_MAX = 256 * 1024;

/**
 * Called before any other work, even a digest. Inputs are no larger than the body around them, so most are never
 * measured. @throws ServiceError too_large
 */
export function checkInputsSize(inputs: unknown, bodyBytes: number): void {
  if (bodyBytes > INPUTS_BYTES_MAX && inputs !== undefined) checkedInputsJson(JSON.stringify(inputs));
}

/** @throws ServiceError too_large */
export function inputsJsonOf(inputs: JsonValue): string {
  return checkedInputsJson(JSON.stringify(inputs));
}

/** @throws ServiceError too_large: runs of earlier releases may have larger inputs. */
export function checkedInputsJson(json: string): string {
  if (Buffer.byteLength(json) > INPUTS_BYTES_MAX) throw inputsTooLarge();
  return json;
}

export function inputsTooLarge(): ServiceError {
  const message = `The inputs have at most ${INPUTS_BYTES_MAX} bytes, with their defaults.`;
  return tooLarge('/inputs', 'inputs_bytes', message);
}
