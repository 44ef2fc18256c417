// Shared by the run routes: their parts, the run that a path names, and the reply that shows a run.

import { callerId } from '@methods/auth/caller';
import type { Clock } from '@methods/base/clock';
import { bareMethodId, isId, type OrgId, type RunId } from '@methods/base/ids';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { AuditLog } from '@methods/service/audit-log';
import type { ValueThreads } from '@methods/value-threads/value-threads';
import type { WebhookUrlPolicy } from '@methods/webhook-url/check-webhook-url';
import type { FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify';
import type { Static } from 'typebox';
import { CallerRefused } from '../../callers/caller-refused.ts';
import type { KeyNames } from '../../clients/key-names.ts';
import type { MethodRegistry } from '../../clients/method-registry.ts';
import type { OrganizationSettings } from '../../clients/organization-settings.ts';
import type { ReadCalls } from '../../clients/read-calls.ts';
import type { RegistryCalls } from '../../clients/registry-calls.ts';
import type { RunScheduler } from '../../clients/run-scheduler.ts';
import type { WaitingCaller, WaitRequest } from '../../clients/run-waiters.ts';
import type { OrganizationLogs } from '../../events/organization-logs.ts';
import { callerOf } from '../../plugins/caller.ts';
import type { RateLimit } from '../../plugins/rate-limit.ts';
import type { LongWork } from '../../turns/long-work.ts';
import { isLongRun, runViewInParts, runViewJson } from '../../views/run-view.ts';
import type { DeclaredStep } from '../../views/step-view.ts';
import type { Downloads } from './downloads.ts';
import type { EventStreams } from './event-streams.ts';
import type { WaitQuery } from './run-schemas.ts';

export interface RunRouteParts {
  readonly scheduler: RunScheduler;
  readonly registry: MethodRegistry;
  readonly registryCalls: RegistryCalls;
  readonly settings: OrganizationSettings;
  readonly reads: ReadCalls;
  readonly keyNames: Pick<KeyNames, 'shownIn'>;
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rateLimit: RateLimit;
  /** True once the process is stopping. */
  readonly stopping: () => boolean;
  readonly webhooks: WebhookUrlPolicy;
  readonly eventStreams: EventStreams;
  readonly organizationLogs: OrganizationLogs;
  readonly downloads: Downloads;
  readonly longWork: LongWork;
  readonly valueThreads: Pick<ValueThreads, 'check'>;
}

/** The approximate memory of a step while its run waits to be written. */
export const STEP_BYTES = 500;

/** Reads the run id of a path. @throws not_found for an invalid run id. */
export function runIdOf(params: unknown): RunId {
  const { id } = params as { id: string };
  if (!isId('run', id)) throw new ServiceError('not_found');
  return id;
}

/** The whole run as JSON. A promise only if its version is not cached, or it has many steps. */
export function runJson(
  { registry, clock, longWork }: Pick<RunRouteParts, 'registry' | 'clock' | 'longWork'>,
  orgId: OrgId,
  run: RunView,
): string | Promise<string> {
  const view = (steps: readonly DeclaredStep[]) =>
    isLongRun(run)
      ? longWork.run(orgId, run.steps.length * STEP_BYTES, runViewInParts(run, steps, clock.wallMs()))
      : runViewJson(run, steps, clock.wallMs());
  const steps = declaredSteps({ registry }, orgId, run);
  return steps instanceof Promise ? steps.then(view) : view(steps);
}

/** The steps of a run's version. Without its version, a run is shown with the steps it has reached. */
export function declaredSteps(
  { registry }: Pick<RunRouteParts, 'registry'>,
  orgId: OrgId,
  run: Pick<RunView, 'method' | 'versionId'>,
): readonly DeclaredStep[] | Promise<readonly DeclaredStep[]> {
  const methodId = bareMethodId(run.method);
  if (methodId === null) return [];
  const version = registry.version(orgId, methodId, run.versionId);
  return version instanceof Promise ? version.then(({ steps }) => steps).catch(() => []) : version.steps;
}

// Reads `?wait_ms=` and `?after_question=`, and the caller that waits.

// A query holds only texts, and the request check converts nothing.
export const readWaitMs: preValidationHookHandler = (request, _reply, done) => {
  const query = request.query as Record<string, unknown>;
  const text = query.wait_ms;
  if (typeof text === 'string' && /^\d{1,9}$/.test(text)) query.wait_ms = Number(text);
  done();
};

/** Null when the request does not wait. */
export function waitRequest(query: Static<typeof WaitQuery>): WaitRequest | null {
  const { wait_ms: waitMs, after_question: afterQuestion } = query;
  if (afterQuestion !== undefined && !isId('q', afterQuestion)) {
    const message = '"after_question" has to be a question id.';
    throw new ServiceError('invalid_request', message, {
      findings: [{ path: '/after_question', code: 'question_id', message }],
    });
  }
  return waitMs === undefined ? null : { waitMs, afterQuestion: afterQuestion ?? null };
}

/** The reply to a shorter wait is under way as that to any other request. */
const CHECKED_MS = 1_000;

/**
 * Checks the caller again after a wait, before the run is shown: its right may have ended meanwhile. Null after a short
 * one. A check without an answer refuses nothing, and a token may expire during a wait. @throws unauthorized, forbidden
 */
export function checkWaited(reply: FastifyReply): Promise<void> | null {
  return reply.elapsedTime < CHECKED_MS ? null : checkAgain(reply.request);
}

async function checkAgain(request: FastifyRequest): Promise<void> {
  try {
    await request.server.callerAgain(request);
  } catch (error) {
    const { code } = asServiceError(error);
    const hasExpired = error instanceof CallerRefused && error.reason === 'token_expired';
    if ((code === 'unauthorized' || code === 'forbidden') && !hasExpired) throw error;
  }
}

/** The connection of a request that waits. */
export function waitingCaller({ raw, request }: FastifyReply): WaitingCaller {
  return new CallerOfReply(callerId(callerOf(request)), raw);
}

class CallerOfReply implements WaitingCaller {
  constructor(
    readonly id: string,
    private readonly raw: FastifyReply['raw'],
  ) {}

  get gone(): boolean {
    return this.raw.destroyed;
  }

  onGone(listener: () => void): () => void {
    this.raw.on('close', listener);
    return () => this.raw.off('close', listener);
  }
}
