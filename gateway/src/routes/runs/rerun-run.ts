// POST …/runs/:id/rerun: starts a new run with the same version, inputs, answerer, metadata and webhook, from the first
// step or from a later one. The run belongs to the caller of the rerun: its webhooks are signed with that key, never
// with the key of the first run, and a caller without a key gets no run with a webhook.
import { createHash } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { StartedRun } from '@methods/api/run';
import { canonicalDigest } from '@methods/base/canonical';
import { bareMethodId, type KeyId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Actor } from '@methods/proto/run/v1/run_pb';
import type { StartRun } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { allowsHost, checkWebhookUrl } from '@methods/webhook-url/check-webhook-url';
import type { FastifyInstance } from 'fastify';
import type { StartedRun as Started } from '../../clients/run-scheduler.ts';
import type { RunAddress } from '../../clients/watched-runs.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { LARGE_BODY_BYTES, readingMs } from '../../plugins/large-bodies.ts';
import { actorOf } from '../../plugins/request-actor.ts';
import { undivided } from '../../turns/long-work.ts';
import { runStatusName, startedRunJson } from '../../views/run-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { describedRun, type RunSurface, runStarted } from './run-acts.ts';
import { type RunRouteParts, runIdOf, waitingCaller } from './run-reply.ts';
import { RerunRunBody, RunParams } from './run-schemas.ts';
import { checkedInputsJson, internalStartHash } from './start-request.ts';

const NO_DIGEST = new Uint8Array(0);

const NEEDS_KEY =
  'This run has a webhook, which needs a service key: run it again with a service key, or start a run without a webhook.';

interface AskedRerun {
  readonly key: RerunKey | null;
  /** The caller's key; empty for a person. */
  readonly keyId: KeyId | '';
  /** The caller of the rerun, not the starter of the first run. */
  readonly starter: Actor;
  readonly fromStep: string | undefined;
}

export interface RerunKey {
  readonly hash: Buffer;
  readonly digest: Buffer;
}

export function addRerunRun(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const { scheduler } = parts;
  const schema = {
    ...describedRun(surface, 'rerunRun', 'Run again with the same version and inputs'),
    description:
      'Starts a new run of the same version with the same inputs, answerer, metadata and webhook, regardless of the state of the first run, which is not changed. Its webhooks are signed with the secret of the caller’s key; a run with a webhook needs a service key (403 `forbidden` otherwise). With from_step it keeps the steps before that one; a step whose out holds a secret runs again, and so does a question with `to`, `not_starter` or `needs`.',
    params: RunParams,
    querystring: NoQuery,
    body: RerunRunBody,
    response: replies({
      201: StartedRun,
      200: { ...StartedRun, description: 'The same key and run: the same new run.' },
    }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .post(`${surface.url}/:id/rerun`, { schema, config: { access: 'member' } }, async (request, reply) => {
      const asking = callerOf(request);
      const { orgId } = asking;
      const keyId = asking.kind === 'service_key' ? asking.keyId : '';
      const address = { orgId, runId: runIdOf(request.params), requestId: request.id };
      const { idempotency_key: idempotencyKey, from_step: fromStep } = request.body ?? {};
      const asked = { rerun_of: address.runId, ...(fromStep !== undefined && { from_step: fromStep }) };
      const key = keyOf(idempotencyKey, asked);
      const caller = waitingCaller(reply);
      const started = await rerunOrRepeat();
      const replayed = started.replayed && key !== null;
      reply.code(replayed ? 200 : 201).header('content-type', JSON_TYPE);
      if (replayed) reply.header('idempotent-replayed', 'true');
      const { runId, method, versionId } = started.run;
      const facts = { method, version_id: versionId, ...asked };
      if (!replayed) runStarted(request, parts, { targetId: runId, facts });
      return startedRunJson(started.run, replayed ? runStatusName(started.run.status) : 'queued');

      async function rerunOrRepeat(): Promise<Started> {
        let start: StartRun;
        try {
          start = await startLike(parts, address, { key, keyId, starter: actorOf(request), fromStep });
        } catch (refusal) {
          // A key that has a run gets it, even if the first run is no longer kept.
          const lookup = key && {
            $typeName: 'methods.scheduler.v1.LookupRun' as const,
            orgId,
            idempotencyHash: key.hash,
            requestDigest: key.digest,
          };
          const earlier = lookup && (await scheduler.lookupRun(lookup, request.id, null, caller));
          if (earlier) return earlier;
          throw refusal;
        }
        return scheduler.startRun(start, request.id, null, caller);
      }
    });
}

function keyOf(idempotencyKey: string | undefined, asked: Readonly<Record<string, string>>): RerunKey | null {
  if (idempotencyKey === undefined) return null;
  const hash = createHash('sha256').update(idempotencyKey, 'utf8').digest();
  return { hash, digest: canonicalDigest(asked) };
}

type RerunParts = Pick<RunRouteParts, 'scheduler' | 'settings' | 'webhooks' | 'longWork' | 'registry'>;

/** @throws not_found, and the errors that would refuse such a start today */
export async function startLike(
  parts: RerunParts,
  address: RunAddress,
  { key, keyId, starter, fromStep }: AskedRerun,
): Promise<StartRun> {
  const [first, settings] = await Promise.all([parts.scheduler.startOf(address), parts.settings.of(address.orgId)]);
  if (first.contentId !== '') {
    throw new ServiceError('device_mode_required', 'Only a program with its content key runs it again.');
  }
  if (settings.contentOnDevices) throw new ServiceError('device_mode_required');
  if (first.webhookUrl !== '') {
    if (keyId === '') throw new ServiceError('forbidden', NEEDS_KEY);
    const check = checkWebhookUrl(first.webhookUrl, parts.webhooks);
    if (!check.ok) throw new ServiceError('invalid_webhook_url', check.reason);
    if (!allowsHost(settings.webhookHosts, check.url.hostname)) {
      throw new ServiceError('invalid_webhook_url', 'The organization does not send webhooks to this host.');
    }
  }
  const bytes = Buffer.byteLength(first.inputsJson);
  const inputs = () => checkedInputsJson(first.inputsJson);
  const inputsJson =
    bytes > LARGE_BODY_BYTES
      ? // Treated as large sent inputs: the caller may reuse the stored ones any number of times.
        await parts.longWork.run(address.orgId, bytes, undivided(inputs), 2 * readingMs(bytes))
      : inputs();
  const kept = fromStep === undefined ? null : await keptSteps(parts, address, first, fromStep);
  return {
    ...first,
    keyId,
    starter,
    inputsJson,
    rerunOf: address.runId,
    ...(kept && { kept }),
    ...(first.inputsJson.includes('"file_id":"file_') && { files: filesOf(address.runId) }),
    idempotencyHash: key?.hash ?? internalStartHash(),
    requestDigest: key?.digest ?? NO_DIGEST,
  };
}

/** The files of the first run, independent of who sent them: both runs keep them. */
function filesOf(runId: RunId): NonNullable<StartRun['files']> {
  return { $typeName: 'methods.scheduler.v1.NamedFiles', owner: '', fileIds: [], runId };
}

/**
 * The names of the steps before `fromStep`; the run's node decides whether each of them ended. Null: it is the first
 * one.
 */
async function keptSteps(
  { registry }: Pick<RunRouteParts, 'registry'>,
  { orgId, runId }: RunAddress,
  { method, versionId }: StartRun,
  fromStep: string,
): Promise<StartRun['kept'] | null> {
  const methodId = bareMethodId(method);
  if (methodId === null) throw new ServiceError('not_found');
  const { steps } = await registry.version(orgId, methodId, versionId);
  const names = steps.map(({ name }) => name);
  const at = names.indexOf(fromStep);
  if (at === -1) {
    const message = `The method has no top-level step "${fromStep}".`;
    throw new ServiceError('invalid_request', message, {
      findings: [{ path: '/from_step', code: 'from_step', message }],
    });
  }
  if (at === 0) return null;
  return { $typeName: 'methods.scheduler.v1.KeptSteps', runId, steps: names.slice(0, at) };
}
