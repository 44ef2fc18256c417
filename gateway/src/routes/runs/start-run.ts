// POST …/runs: names a version, checks the inputs, and hands the start to a run-scheduler node.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { ValueCheck } from '@methods/method/check-value';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import type { StartRun } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { checkWebhookUrl } from '@methods/webhook-url/check-webhook-url';
import { allowsHost } from '@methods/webhook-url/webhook-hosts';
import type { FastifyInstance } from 'fastify';
import type { FileOwner } from '../../clients/input-files.ts';
import type { MethodVersion, StartableVersion } from '../../clients/method-version.ts';
import type { Settings } from '../../clients/organization-settings.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { LARGE_BODY_BYTES } from '../../plugins/large-bodies.ts';
import { undivided } from '../../turns/long-work.ts';
import { runStatusName, startedRunJson } from '../../views/run-view.ts';
import { ownerOf } from '../files/file-routes.ts';
import { checkInputsSize, INPUTS_BYTES_MAX, inputsJsonOf, inputsTooLarge } from './inputs-size.ts';
import { withNamedFiles } from './named-files.ts';
import { runShown, runStarted } from './run-acts.ts';
import { type RunRouteParts, runJson } from './run-reply.ts';
import { replies, StartedRun, StartRunBody, WaitQuery } from './run-schemas.ts';
import { describedRun, type RunSurface } from './run-surface.ts';
import { type AskedStart, askedStart, internalStartHash } from './start-request.ts';
import { readWaitMs, waitingCaller, waitRequest } from './wait-query.ts';

export function addStartRun(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const { scheduler } = parts;
  const schema = {
    ...describedRun(surface, 'startRun', 'Start a run'),
    body: StartRunBody,
    querystring: WaitQuery,
    response: replies({
      201: StartedRun,
      200: { ...StartedRun, description: 'The same key and values: the same run.' },
    }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .post(surface.url, { schema, config: { access: 'member' }, preValidation: readWaitMs }, async (request, reply) => {
      const asking = callerOf(request);
      const { orgId } = asking;
      // A person's run has no key to sign webhooks with.
      const keyId = asking.kind === 'service_key' ? asking.keyId : '';
      const wait = waitRequest(request.query);
      checkInputsSize(request.body.inputs, request.bodyBytes);
      const asked = askedStart(request.body);
      if (asked.webhookUrl !== null && keyId === '') {
        throw new ServiceError('forbidden', 'A webhook needs a service key.');
      }
      const caller = waitingCaller(reply);
      const started = await startOrRepeat();
      const replayed = started.replayed && asked.key !== null;
      reply.code(replayed ? 200 : 201).header('content-type', JSON_TYPE);
      if (replayed) reply.header('idempotent-replayed', 'true');
      const { runId, method, versionId } = started.run;
      if (!replayed) runStarted(request, parts, { targetId: runId, facts: { method, version_id: versionId } });
      // A run that a worker took at once is still told as queued: the caller asked for no more.
      if (wait === null) return startedRunJson(started.run, replayed ? runStatusName(started.run.status) : 'queued');
      const told = runShown(request, parts, runId);
      if (told) await told;
      return runJson(parts, orgId, started.run);

      async function startOrRepeat() {
        let start: StartRun;
        try {
          const version = versionOf(parts, orgId, asked);
          const settings = parts.settings.of(orgId);
          // Nearly always both are at hand.
          const [startable, rules] =
            version instanceof Promise || settings instanceof Promise
              ? await Promise.all([version, settings])
              : [version, settings];
          start = await startMessage(parts, {
            orgId,
            owner: ownerOf(asking),
            keyId,
            asked,
            bodyBytes: request.bodyBytes,
            version: startable,
            settings: rules,
          });
        } catch (refusal) {
          // A key that has a run gets it, whatever would be refused today.
          const earlier = asked.key && (await scheduler.lookupRun(lookup(orgId, asked.key), request.id, wait, caller));
          if (earlier) return earlier;
          throw refusal;
        }
        return scheduler.startRun(start, request.id, wait, caller);
      }
    });
}

function versionOf(
  { registry }: RunRouteParts,
  orgId: string,
  { methodId, version }: AskedStart,
): MethodVersion | Promise<MethodVersion> {
  if (methodId === null || (version !== 'published' && !isId('ver', version))) throw new ServiceError('not_found');
  return registry.versionToStart(orgId, methodId, version);
}

interface CheckedStart {
  readonly orgId: string;
  /** Who may name files. */
  readonly owner: FileOwner;
  readonly keyId: string;
  readonly asked: AskedStart;
  readonly bodyBytes: number;
  readonly version: MethodVersion;
  readonly settings: Settings;
}

/** @throws whatever refuses this start by its values. */
async function startMessage(
  { scheduler, webhooks, valueThreads, longWork }: RunRouteParts,
  { orgId, owner, keyId, asked, bodyBytes, version, settings }: CheckedStart,
): Promise<StartRun> {
  if (settings.contentOnDevices) throw new ServiceError('device_mode_required');
  if (version.startable === null) throw new ServiceError('needs_upgrade');
  if (asked.webhookUrl !== null) {
    const check = checkWebhookUrl(asked.webhookUrl, webhooks);
    if (!check.ok) throw new ServiceError('invalid_webhook_url', check.reason);
    if (!allowsHost(settings.webhookHosts, check.url.hostname)) {
      throw new ServiceError('invalid_webhook_url', 'The organization does not send webhooks to this host.');
    }
  }
  const { startable } = version;
  const check = () => checkedInputs(valueThreads, { orgId, asked, startable });
  // Large inputs may take as long to check as to parse.
  const inputs = await (bodyBytes > LARGE_BODY_BYTES ? longWork.run(orgId, bodyBytes, undivided(check)) : check());
  if (!inputs.ok) {
    if (inputs.reason === 'too_large') throw inputsTooLarge();
    throw new ServiceError('invalid_inputs', undefined, { findings: inputs.findings });
  }
  const files = await withNamedFiles(scheduler.files.sent, owner, startable, inputs.value);
  const seen = files?.inputs ?? inputs.value;
  const inputsJson = inputsJsonOf(seen);
  const unmet = await startable.unmet(seen as JsonObject);
  if (unmet.length > 0) {
    const findings = unmet.map((message) => ({ path: '', code: 'check_failed', message }));
    throw new ServiceError('invalid_inputs', undefined, { findings });
  }
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
    ...(files !== null && {
      files: {
        $typeName: 'methods.scheduler.v1.NamedFiles',
        owner: owner.owner,
        fileIds: [...files.fileIds],
        runId: '',
      },
    }),
    cleansUp: startable.cleansUp,
  };
}

/** What takes more than a turn of the event loop is checked on a thread. */
function checkedInputs(
  threads: RunRouteParts['valueThreads'],
  {
    orgId,
    asked,
    startable,
  }: Pick<CheckedStart, 'orgId' | 'asked'> & {
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

function lookup(orgId: string, key: NonNullable<AskedStart['key']>) {
  return {
    $typeName: 'methods.scheduler.v1.LookupRun' as const,
    orgId,
    idempotencyHash: key.hash,
    requestDigest: key.digest,
  };
}
