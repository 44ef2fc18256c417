// ListWorkers: the workers of an organization that are connected to this node.
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { ListWorkersRequest } from '@methods/proto/scheduler/v1/worker_list_service_pb';
import type { WorkerSessions } from '../worker-stream/worker-sessions.ts';

const LISTED_MAX = 500;

export async function listWorkers(sessions: Pick<WorkerSessions, 'list'>, { orgId }: ListWorkersRequest) {
  if (!isId('org', orgId)) throw new ServiceError('not_found');
  const workers = sessions.list(orgId).toSorted((a, b) => b.connectedAtMs - a.connectedAtMs);
  return {
    workers: workers.slice(0, LISTED_MAX).map(({ methods, features, ...worker }) => ({
      ...worker,
      methods: [...methods],
      features: [...features],
    })),
    count: workers.length,
  };
}
