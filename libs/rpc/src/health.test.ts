// The health protocol as gRPC's own package speaks it.
import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { credentials, Client as GrpcClient, type MethodDefinition, status } from '@grpc/grpc-js';
import { until } from '@methods/test/harness/until';
import { service as Health } from 'grpc-health-check';
import { startWorkerServer } from './worker-server.fixture.ts';

const WORKERS = 'methods.worker.v1.WorkerService';
const LIMIT = { timeout: 120_000 };

function method(name: string): MethodDefinition<object, { status: string; statuses: object }> {
  return Health[name] as never;
}

test('a watch gets the status at once and every change of it, also of an unknown service', LIMIT, async () => {
  await using running = await startWorkerServer({});
  const client = new GrpcClient(running.address, credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = method('Watch');
  const heard = new Map<string, string[]>();
  const calls = ['', WORKERS, 'absent'].map((service) => {
    const said: string[] = [];
    heard.set(service, said);
    const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, { service });
    call.on('data', (reply: { status: string }) => said.push(reply.status)).on('error', () => {});
    return call;
  });
  await until('all have heard', () => [...heard.values()].every((said) => said.length === 1));
  running.server.setServing(false);
  running.server.setServing(false);
  running.server.setServing(true);
  const changes = ['SERVING', 'NOT_SERVING', 'SERVING'];
  await until('the changes are heard', () => heard.get('')?.length === 3 && heard.get(WORKERS)?.length === 3);
  deepEqual(Object.fromEntries(heard), { '': changes, [WORKERS]: changes, absent: ['SERVICE_UNKNOWN'] });
  for (const call of calls) call.cancel();
  client.close();
});

test('all services are listed, and a check of an unknown one is refused', LIMIT, async () => {
  await using running = await startWorkerServer({}, { serving: false });
  const client = new GrpcClient(running.address, credentials.createInsecure());
  const list = method('List');
  const listed = await new Promise((resolve, reject) =>
    client.makeUnaryRequest(list.path, list.requestSerialize, list.responseDeserialize, {}, (error, reply) =>
      error ? reject(error) : resolve(reply?.statuses),
    ),
  );
  deepEqual(listed, { '': { status: 'NOT_SERVING' }, [WORKERS]: { status: 'NOT_SERVING' } });
  const { path, requestSerialize, responseDeserialize } = method('Check');
  const code = await new Promise((resolve) =>
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service: 'absent' }, (error) =>
      resolve(error?.code),
    ),
  );
  equal(code, status.NOT_FOUND);
  client.close();
});
