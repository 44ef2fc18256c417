// The content of a start, and how a repeat of it is recognized: by what was requested, not by what that resolves to
// today, so that a later publish causes no conflict.
import { hash as hashOf, randomFillSync } from 'node:crypto';
import { canonicalDigest } from '@methods/base/canonical';
import { bareMethodId, isId, type MethodId, type RunId } from '@methods/base/ids';
import { sealedShape } from '@methods/content/sealed-shape';
import { ServiceError } from '@methods/errors/service-error';
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
  /** Empty: it repeats none. */
  readonly rerunOf: RunId | '';
  /** Null for a start without a key. One in device mode has its content id as the key. */
  readonly key: { readonly hash: Buffer; readonly digest: Buffer } | null;
  /** Null: not in device mode. */
  readonly device: DeviceStart | null;
}

export interface DeviceStart {
  readonly contentId: string;
  /** The files that the sealed inputs name: ids, or those of another run. */
  readonly files: readonly string[] | { readonly of: string };
}

/**
 * An omitted field and its default are the same request.
 * @throws ServiceError for a start in device mode that is not sealed
 */
export function askedStart(body: Static<typeof StartRunBody>): AskedStart {
  const webhookUrl = body.webhook_url ?? null;
  const asked = {
    methodId: bareMethodId(body.method),
    version: body.version ?? 'published',
    inputs: body.inputs ?? {},
    webhookUrl,
    answerBy: body.answer_by ?? (webhookUrl === null ? 'team' : 'application'),
    metadata: body.metadata ?? {},
    rerunOf: rerunOf(body),
  };
  const sealed = sealedStart(body);
  const key = body.idempotency_key ?? (sealed && `content ${sealed.contentId}`);
  if (key === null) return { ...asked, key, device: null };
  const hash = hashOf('sha256', key, 'buffer');
  return { ...asked, key: { hash, digest: digestOf(asked, sealed) }, device: sealed };
}

/** A repeat seals the same inputs again: it is recognized by the keyed digest of the envelope. */
function digestOf(asked: Omit<AskedStart, 'key' | 'device'>, sealed: SealedStart | null): Buffer {
  return canonicalDigest({
    method: asked.methodId,
    version: asked.version,
    ...(sealed === null ? { inputs: asked.inputs } : { sealed_inputs: sealed.digest }),
    webhook_url: asked.webhookUrl,
    answer_by: asked.answerBy,
    metadata: asked.metadata,
    ...(asked.rerunOf !== '' && { rerun_of: asked.rerunOf }),
  });
}

function rerunOf({ rerun_of: runId }: Static<typeof StartRunBody>): RunId | '' {
  if (runId !== undefined && !isId('run', runId)) throw refused('rerun_of', 'rerun_of is the id of a run, run_….');
  return runId ?? '';
}

interface SealedStart extends DeviceStart {
  /** Of the plain inputs, keyed by the client. */
  readonly digest: string;
}

function sealedStart(body: Static<typeof StartRunBody>): SealedStart | null {
  const { run_data, content_id: contentId, inputs, files = [], files_of: of } = body;
  if (run_data !== 'device') {
    for (const field of DEVICE_FIELDS) {
      if (body[field] !== undefined) throw refused(field, `${field} is for runs in device mode.`);
    }
    return null;
  }
  if (contentId === undefined) throw refused('content_id', 'A run in device mode has a content_id.');
  if (of !== undefined && files.length > 0) throw refused('files_of', 'files_of takes the place of files.');
  const shape = sealedShape(inputs, 'inputs', INPUTS_BYTES_MAX);
  if (shape !== null) return { contentId, digest: shape.digest, files: of === undefined ? files : { of } };
  const message = 'The inputs are not an envelope of a run in device mode.';
  const findings = [{ path: '/inputs', code: 'sealed_value_damaged', message }];
  throw new ServiceError('invalid_inputs', message, { findings });
}

const DEVICE_FIELDS = ['content_id', 'files', 'files_of'] as const;

function refused(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, { findings: [{ path: `/${field}`, code: field, message }] });
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
/** Sealed inputs are base64; the rest is for the envelope. */
const SEALED_INPUTS_CHARACTERS_MAX = (INPUTS_BYTES_MAX * 4) / 3 + 1_024;

/**
 * Called before any other work, even a digest. Inputs are no larger than the body around them, so most are never
 * measured. @throws ServiceError too_large
 */
export function checkInputsSize(
  { inputs, run_data }: Pick<Static<typeof StartRunBody>, 'inputs' | 'run_data'>,
  bodyBytes: number,
): void {
  if (bodyBytes <= INPUTS_BYTES_MAX || inputs === undefined) return;
  const json = JSON.stringify(inputs);
  if (run_data !== 'device') checkedInputsJson(json);
  else if (json.length > SEALED_INPUTS_CHARACTERS_MAX) throw inputsTooLarge();
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
