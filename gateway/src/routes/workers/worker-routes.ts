// GET /api/workers: the workers that are connected now.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { ConnectedWorker } from '@methods/proto/scheduler/v1/worker_list_service_pb';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { ConnectedWorkers } from '../../clients/connected-workers.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { timeView } from '../../views/party-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';

export interface WorkerRouteParts {
  readonly workers: Pick<ConnectedWorkers, 'list'>;
}

const LISTED_MAX = 1_000;
const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

const Worker = Type.Object({
  id: Type.String({ description: 'Chosen by the worker; another one after each start.' }),
  name: Type.Optional(Type.String({ description: 'As its operator named it.' })),
  host: Type.String({ description: 'Its machine, as the worker says; empty for one of an earlier version.' }),
  key_id: Type.String({
    description: 'The key that it connected with, key_…; empty for a worker of a signed-in person',
  }),
  methods: Type.Array(Type.String(), { description: 'The first 50, wf_….' }),
  methods_count: Type.Integer(),
  slots: Type.Integer({ description: 'Runs it executes at a time.' }),
  free: Type.Integer({ description: 'How many more it takes now.' }),
  features: Type.Array(Type.String()),
  sdk: Type.String({ description: 'The library and its version, as the worker says.' }),
  connected_at: Time,
  heard_at: Time,
  leaving: Type.Boolean({ description: 'It takes no more runs.' }),
});

const Workers = Type.Object({
  items: Type.Array(Worker, { description: 'The latest first, at most 1,000.' }),
  next_cursor: Type.Null(),
  count: Type.Integer({ description: 'Also those that are not listed.' }),
  complete: Type.Boolean({ description: 'false: a part of the server did not answer, so some may be missing.' }),
});

/** In the scope `api`. */
export function addWorkerRoutes(scope: FastifyInstance, { workers }: WorkerRouteParts): void {
  const schema = {
    operationId: 'listWorkers',
    summary: 'List the workers that are connected',
    tags: ['organization'],
    querystring: NoQuery,
    response: replies({ 200: Workers }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/api/workers', { schema, config: { access: 'viewer' } }, async (request, reply) => {
      const { workers: found, count, isComplete } = await workers.list(callerOf(request).orgId);
      reply.header('content-type', JSON_TYPE);
      const items = found.slice(0, LISTED_MAX).map(workerView);
      return JSON.stringify({ items, next_cursor: null, count, complete: isComplete });
    });
}

function workerView(worker: ConnectedWorker) {
  return {
    id: worker.workerId,
    ...(worker.name !== '' && { name: worker.name }),
    host: worker.host,
    key_id: worker.keyId,
    methods: worker.methods,
    methods_count: worker.methodsCount,
    slots: worker.slots,
    free: worker.free,
    features: worker.features,
    sdk: worker.sdk,
    connected_at: timeView(worker.connectedAtMs),
    heard_at: timeView(worker.heardAtMs),
    leaving: worker.leaving,
  };
}
