// GET /api/queues and /api/warnings: the runs that wait for a worker, and everything that needs a hand.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { OrgId } from '@methods/base/ids';
import type { ListQueuesResponse, RunQueue } from '@methods/proto/scheduler/v1/statistics_service_pb';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { timeView } from '../../views/party-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import type { SharedReplies, StatisticsRouteParts } from './statistics-parts.ts';
import { QUEUE_REASONS, type QueueReason, Queues, Warnings } from './statistics-schemas.ts';

const DELIVERIES_MAX = 200;
const DUE_WITHIN_MS = 3_600_000;
const CALL = { timeoutMs: 5_000 };

interface Warning {
  readonly kind: string;
  readonly count: number;
  readonly more: boolean;
  readonly [fact: string]: unknown;
}

export function addWarnings(scope: FastifyInstance, parts: StatisticsRouteParts, shared: SharedReplies): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { reads } = parts;

  const queues = {
    ...described('listQueues', 'List the queues of runs that wait for a worker'),
    querystring: NoQuery,
    response: replies({ 200: Queues }),
  };
  typed.get('/api/queues', { schema: queues, config: { access: 'viewer' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    reply.header('content-type', JSON_TYPE);
    return shared.get(JSON.stringify([orgId, 'queues']), async () => {
      const { queues: found, more } = await reads.statistics.queues({ orgId });
      return JSON.stringify({ items: found.map(queueView), next_cursor: null, complete: !more });
    });
  });

  const warnings = {
    ...described('listWarnings', 'List what needs a hand'),
    description:
      'Methods without a worker or a feature, deliveries without a try left, and questions that are due within an hour. ' +
      'A reply is up to 5 seconds old.',
    querystring: NoQuery,
    response: replies({ 200: Warnings }),
  };
  typed.get('/api/warnings', { schema: warnings, config: { access: 'viewer' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    reply.header('content-type', JSON_TYPE);
    return shared.get(JSON.stringify([orgId, 'warnings']), () => warningsJson(parts, orgId));
  });
}

function described(operationId: string, summary: string) {
  return { operationId, summary, tags: ['organization'] };
}

/** Each part that does not answer is left out, and the reply says so. */
async function warningsJson(parts: StatisticsRouteParts, orgId: OrgId): Promise<string> {
  const [queues, exhausted, due] = await Promise.all([
    parts.reads.statistics.queues({ orgId }).catch(() => null),
    exhaustedDeliveries(parts, orgId).catch(() => null),
    dueQuestions(parts, orgId).catch(() => null),
  ]);
  const stuck = (queues?.queues ?? []).flatMap(stuckWarning);
  return JSON.stringify({
    items: [...stuck, ...(exhausted ?? []), ...(due ?? [])],
    queue: queueTotals(queues),
    complete: queues !== null && !queues.more && exhausted !== null && due !== null,
  });
}

function stuckWarning(queue: RunQueue): Warning[] {
  const kind = reasonOf(queue);
  if (kind === null) return [];
  const { method, needs, waiting: count, more, oldestQueuedAtMs } = queue;
  return [{ kind, method, needs, count, more, since: timeView(oldestQueuedAtMs) }];
}

function queueTotals(found: ListQueuesResponse | null) {
  const queues = found?.queues ?? [];
  const times = queues.map(({ oldestQueuedAtMs }) => oldestQueuedAtMs);
  return {
    count: queues.reduce((sum, { waiting }) => sum + waiting, 0),
    more: found?.more === true || queues.some(({ more }) => more),
    oldest_queued_at: times.length === 0 ? null : timeView(Math.min(...times)),
  };
}

async function exhaustedDeliveries({ deliveries }: StatisticsRouteParts, orgId: OrgId): Promise<Warning[]> {
  if (deliveries === null) return [];
  const asked = { orgId, status: 'exhausted', kind: '', endpointId: '' as const, runId: '' as const };
  const { deliveries: found, nextCursor } = await deliveries.listDeliveries(
    { ...asked, limit: DELIVERIES_MAX, cursor: '' },
    CALL,
  );
  const oldest = found.at(-1);
  if (oldest === undefined) return [];
  const kind = 'deliveries_exhausted';
  return [{ kind, count: found.length, more: nextCursor !== '', since: timeView(oldest.createdAtMs) }];
}

async function dueQuestions({ questions, clock }: StatisticsRouteParts, orgId: OrgId): Promise<Warning[]> {
  const dueBeforeMs = clock.wallMs() + DUE_WITHIN_MS;
  const { count, more } = await questions.count({ orgId, filter: { dueBeforeMs } });
  return count === 0 ? [] : [{ kind: 'questions_due', count, more }];
}

function queueView(queue: RunQueue) {
  const { method, needs, keyId, waiting, more, oldestQueuedAtMs } = queue;
  return {
    method,
    needs,
    waiting,
    more,
    oldest_queued_at: timeView(oldestQueuedAtMs),
    ...(keyId !== '' && { key_id: keyId }),
    reason: reasonOf(queue),
  };
}

function reasonOf({ reason }: RunQueue): QueueReason | null {
  return QUEUE_REASONS.find((known) => known === reason) ?? null;
}
