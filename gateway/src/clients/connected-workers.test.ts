import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { WorkerListService } from '@methods/proto/scheduler/v1/worker_list_service_pb';
import { RpcServer } from '@methods/rpc/server';
import { ConnectedWorkers } from './connected-workers.ts';

async function node(...connectedAtMs: number[]): Promise<RpcServer> {
  const workers = connectedAtMs.map((at) => ({ workerId: String(at), connectedAtMs: at }));
  const listWorkers = async () => ({ workers, count: workers.length + 1 });
  const server = new RpcServer({
    listen: '127.0.0.1:0',
    services: [[WorkerListService, { listWorkers }]],
    logger: silentLogger,
    graceMs: 0,
  });
  await server.start();
  return server;
}

test('the workers of all nodes are one list, the latest first, which shows whether a node is missing', async () => {
  const nodes = [await node(1, 4), await node(2)];
  const earlier = new RpcServer({ listen: '127.0.0.1:0', services: [], logger: silentLogger, graceMs: 0 });
  await earlier.start();
  const all = new ConnectedWorkers(nodes.map(({ port }) => `127.0.0.1:${port}`));
  const some = new ConnectedWorkers([...nodes, earlier].map(({ port }) => `127.0.0.1:${port}`));
  const none = new ConnectedWorkers(['127.0.0.1:1']);
  try {
    const { workers, count, isComplete } = await all.list(newId('org'));
    assert.deepEqual([workers.map(({ workerId }) => workerId), count, isComplete], [['4', '2', '1'], 5, true]);
    const partial = await some.list(newId('org'));
    assert.deepEqual([partial.count, partial.isComplete], [5, false]);
    await assert.rejects(none.list(newId('org')), { code: 'unavailable' });
  } finally {
    for (const each of [all, some, none]) each.stop();
    for (const each of [...nodes, earlier]) await each.stop();
  }
});
