// The steps of a start, single or in a batch: resolves the version, checks the inputs, and sends the start to a
// run-scheduler node.
import { isId, type KeyId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { ValueCheck } from '@methods/method/check-value';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { type Actor, Answerer } from '@methods/proto/run/v1/run_pb';
import type { StartRun } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { allowsHost, checkWebhookUrl } from '@methods/webhook-url/check-webhook-url';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { FileOwner } from '../../clients/input-files.ts';
import type { MethodVersion, StartableVersion } from '../../clients/method-version.ts';
import type { Settings } from '../../clients/organization-settings.ts';
import type { StartedRun } from '../../clients/run-scheduler.ts';
import type { WaitingCaller, WaitRequest } from '../../clients/run-waiters.ts';
import { callerOf } from '../../plugins/caller.ts';
import { LARGE_BODY_BYTES } from '../../plugins/large-bodies.ts';
import { actorOf } from '../../plugins/request-actor.ts';
import { type LongWork, undivided } from '../../turns/long-work.ts';
import { type Steps, settled } from '../../turns/steps.ts';
import { ownerOf } from '../files/file-routes.ts';
import { namedFiles, sealedFiles, withNamedFiles } from './named-files.ts';
import { type RunRouteParts, waitingCaller } from './run-reply.ts';
import type { StartRunBody } from './run-schemas.ts';
import {
  type AskedStart,
  askedStart,
  checkInputsSize,
  INPUTS_BYTES_MAX,
  inputsJsonOf,
  inputsTooLarge,
  internalStartHash,
} from './start-request.ts';

export interface StartContext {
  readonly orgId: OrgId;
  /** The owner of the files that the inputs may name. */
  readonly owner: FileOwner;
  /** Empty for a person: the run has no key to sign webhooks with. */
  readonly keyId: KeyId | '';
  /** Who starts the runs. */
  readonly starter: Actor;
  readonly requestId: string;
  readonly wait: WaitRequest | null;
  readonly caller: WaitingCaller;
  /** Null: the steps already run in slices of long work. */
  readonly longWork: LongWork | null;
  /** For starts with one key the first in the request gets the run, so each is committed before its run begins. */
  readonly isInBatch?: boolean;
  /** Called with the size of the inputs just before the start is sent. */
  readonly leaves?: (inputsBytes: number) => void;
}

/** The context of a request. By default it waits for no run, and its steps run in slices. */
export function startContext(request: FastifyRequest, reply: FastifyReply): StartContext {
  const asking = callerOf(request);
  return {
    orgId: asking.orgId,
    owner: ownerOf(asking),
    keyId: asking.kind === 'service_key' ? asking.keyId : '',
    starter: actorOf(request),
    requestId: request.id,
    wait: null,
    caller: waitingCaller(reply),
    longWork: null,
  };
}

export interface AcceptedStart extends StartedRun {
  /** The run of a key that the caller has used before. */
  readonly isRepeat: boolean;
}

/** @throws ServiceError if this start is refused */
export function* startSteps(
  parts: RunRouteParts,
  body: Static<typeof StartRunBody>,
  bodyBytes: number,
  context: StartContext,
): Steps<AcceptedStart> {
  const { scheduler } = parts;
  const { orgId, requestId, wait, caller, keyId } = context;
  checkInputsSize(body, bodyBytes);
  if (bodyBytes > LARGE_BODY_BYTES) yield;
  const asked = askedStart(body);
  if (asked.device !== null && keyId === '') throw new ServiceError('device_key_required');
  if (asked.webhookUrl !== null && keyId === '') {
    throw new ServiceError('forbidden', 'A webhook needs a service key.');
  }
  let start: StartRun;
  try {
    start = yield* startMessage(parts, asked, bodyBytes, context);
  } catch (refusal) {
    // A key that has a run gets it, even if its values would be refused today.
    const earlier =
      asked.key && (yield* settled(scheduler.lookupRun(lookup(orgId, asked.key), requestId, wait, caller)));
    if (earlier) return { ...earlier, isRepeat: earlier.replayed };
    throw refusal;
  }
  context.leaves?.(start.inputsJson.length);
  const started = yield* settled(scheduler.startRun(start, requestId, wait, caller));
  const { run, replayed } = started;
  return { run, replayed, isRepeat: replayed && asked.key !== null };
}

function versionOf(
  { registry }: RunRouteParts,
  orgId: OrgId,
  { methodId, version }: AskedStart,
): MethodVersion | Promise<MethodVersion> {
  if (methodId === null || (version !== 'published' && !isId('ver', version))) throw new ServiceError('not_found');
  return registry.versionToStart(orgId, methodId, version);
}

/** @throws ServiceError for values that refuse this start */
function* startMessage(
  parts: RunRouteParts,
  asked: AskedStart,
  bodyBytes: number,
  { orgId, owner, keyId, starter, longWork, isInBatch = false }: StartContext,
): Steps<StartRun> {
  const [version, settings] = yield* versionAndSettings(parts, orgId, asked);
  if (settings.contentOnDevices && asked.device === null) throw new ServiceError('device_mode_required');
  if (version.startable === null) throw new ServiceError('needs_upgrade');
  if (asked.webhookUrl !== null) {
    const check = checkWebhookUrl(asked.webhookUrl, parts.webhooks);
    if (!check.ok) throw new ServiceError('invalid_webhook_url', check.reason);
    if (!allowsHost(settings.webhookHosts, check.url.hostname)) {
      throw new ServiceError('invalid_webhook_url', 'The organization does not send webhooks to this host.');
    }
  }
  const { startable } = version;
  yield;
  const { device } = asked;
  if (device !== null && startable.namesAnswerers) throw new ServiceError('device_mode_unsupported');
  const { inputsJson, files } =
    device === null
      ? yield* plainInputs(parts, asked, startable, bodyBytes, { orgId, owner, longWork })
      : {
          inputsJson: JSON.stringify(asked.inputs),
          files: yield* settled(sealedFiles(parts.scheduler.files.sent, owner, device)),
        };
  return {
    $typeName: 'methods.scheduler.v1.StartRun',
    orgId,
    method: `wf_${asked.methodId}`,
    versionId: version.versionId,
    inputsJson,
    idempotencyHash: asked.key?.hash ?? internalStartHash(),
    requestDigest: asked.key?.digest ?? NO_DIGEST,
    webhookUrl: asked.webhookUrl ?? '',
    keyId,
    answerBy: asked.answerBy === 'application' ? Answerer.APPLICATION : Answerer.TEAM,
    metadata: asked.metadata,
    needs: [...startable.needs],
    files: files ?? undefined,
    cleansUp: startable.cleansUp,
    onlyComputes: startable.onlyComputes && !isInBatch,
    contentId: device?.contentId ?? '',
    rerunOf: asked.rerunOf,
    starter,
  };
}

/** The inputs with their defaults, and the files that they name. @throws ServiceError if they do not fit */
function* plainInputs(
  parts: RunRouteParts,
  asked: AskedStart,
  startable: StartableVersion,
  bodyBytes: number,
  { orgId, owner, longWork }: Pick<StartContext, 'orgId' | 'owner' | 'longWork'>,
): Steps<{ readonly inputsJson: string; readonly files: NonNullable<StartRun['files']> | null }> {
  const check = () => checkedInputs(parts.valueThreads, { orgId, asked, startable });
  // Large inputs may take as long to check as to parse.
  const inTurn = longWork !== null && bodyBytes > LARGE_BODY_BYTES;
  const inputs = yield* settled<ValueCheck>(inTurn ? longWork.run(orgId, bodyBytes, undivided(check)) : check());
  if (!inputs.ok) {
    if (inputs.reason === 'too_large') throw inputsTooLarge();
    throw new ServiceError('invalid_inputs', undefined, { findings: inputs.findings });
  }
  yield;
  const files = yield* settled(withNamedFiles(parts.scheduler.files.sent, owner, startable, inputs.value));
  const seen = files?.inputs ?? inputs.value;
  const inputsJson = inputsJsonOf(seen);
  const unmet = yield* settled(startable.unmet(seen as JsonObject));
  if (unmet.length > 0) {
    const findings = unmet.map((message) => ({ path: '', code: 'check_failed', message }));
    throw new ServiceError('invalid_inputs', undefined, { findings });
  }
  if (files === null) return { inputsJson, files };
  const fileIds = [...files.fileIds];
  return {
    inputsJson,
    files: namedFiles(owner, fileIds),
  };
}

/** Usually both are cached. */
function* versionAndSettings(
  parts: RunRouteParts,
  orgId: OrgId,
  asked: AskedStart,
): Steps<readonly [MethodVersion, Settings]> {
  const version = versionOf(parts, orgId, asked);
  const settings = parts.settings.of(orgId);
  if (version instanceof Promise || settings instanceof Promise) {
    return yield* settled(Promise.all([version, settings]));
  }
  return [version, settings];
}

/** Checks that take more than a turn of the event loop run on a thread. */
function checkedInputs(
  threads: RunRouteParts['valueThreads'],
  {
    orgId,
    asked,
    startable,
  }: {
    readonly orgId: OrgId;
    readonly asked: AskedStart;
    readonly startable: StartableVersion;
  },
): ValueCheck | Promise<ValueCheck> {
  const value = asked.inputs as JsonValue;
  const check = startable.checkInputs(value);
  if (check.ok || check.reason !== 'too_costly') return check;
  const { inputSchema: schema } = startable;
  return threads.check({ orgId, schema, valueJson: JSON.stringify(value), addedBytesMax: INPUTS_BYTES_MAX });
}

const NO_DIGEST = new Uint8Array(0);

function lookup(orgId: OrgId, key: NonNullable<AskedStart['key']>) {
  return {
    $typeName: 'methods.scheduler.v1.LookupRun' as const,
    orgId,
    idempotencyHash: key.hash,
    requestDigest: key.digest,
  };
}
