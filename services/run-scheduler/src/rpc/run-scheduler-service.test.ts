import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { systemClock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { type PeerItem, PeerItemSchema } from '@methods/proto/peer/v1/peer_service_pb';
import { type NodeItem, RunSchedulerService } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { dialFrames } from '@methods/rpc/frame-stream';
import { RpcServer, served } from '@methods/rpc/server';
import { until } from '@methods/test/harness/until';
import { runs } from '../run/run.fixture.ts';
import { runView } from '../wire/run-message.ts';
import { OrganizationFollowers } from './organization-followers.ts';
import { RunSchedulerRpc } from './run-scheduler-service.ts';
import { RunWatchers } from './run-watchers.ts';
import type { StartRuns } from './start-run.ts';

type StartReply = Extract<PeerItem['item'], { case: 'startReply' }>['value']['outcome'];

describe("the gateways' stream", () => {
  let shardsOwned: number;
  let startedHere: number;
  /** What each peer replies to a start; an error is a broken link. */
  let peers: Map<string, StartReply | Error>;
  let asked: string[];
  let rpc: RunSchedulerRpc;
  let server: RpcServer;
  let stream: ReturnType<typeof dial>;
  let got: NodeItem[];

  beforeEach(async () => {
    [shardsOwned, startedHere, got, asked] = [4, 0, [], []];
    peers = new Map();
    const starts: Pick<StartRuns, 'start'> = {
      async start(_request, onId) {
        startedHere++;
        onId(runs.queued.facts.runId);
        return { run: runs.queued, replayed: false };
      },
    };
    rpc = new RunSchedulerRpc({
      services: {
        actors: { read: async () => runs.running },
        answers: {},
        owners: {},
        followers: new OrganizationFollowers(systemClock),
        watchers: new RunWatchers({
          clock: systemClock,
          shardCount: 4,
          owns: () => true,
          read: async () => null,
          shardWatched: () => {},
          stepsWatched: () => {},
        }),
        logger: silentLogger,
      } as never,
      starts: starts as StartRuns,
      folders: { get: async () => null },
      files: {} as never,
      peers: {
        send: () => true,
        connected: () => [...peers.keys()],
        async request(nodeId) {
          asked.push(nodeId);
          const outcome = peers.get(nodeId);
          if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error('no link');
          return create(PeerItemSchema, { item: { case: 'startReply', value: { outcome: outcome as never } } });
        },
      },
      state: () => ({ nodeId: 'here', shardsOwned, draining: false, ready: shardsOwned > 0, shardCount: 4 }),
    });
    const services = [served(RunSchedulerService, rpc.handlers)];
    server = new RpcServer({ listen: '127.0.0.1:0', services, logger: silentLogger, graceMs: 0 });
    await server.start();
    stream = dial();
  });
  afterEach(async () => {
    stream.close();
    await server.stop();
  });

  function dial() {
    return dialFrames(RunSchedulerService.method.exchange, `127.0.0.1:${server.port}`, {
      onItems: (items) => got.push(...items),
      onClose: () => {},
    });
  }

  let nextCall = 1;
  async function start(): Promise<string> {
    const callId = nextCall++;
    stream.send({ callId, deadlineMs: 60_000, item: { case: 'start', value: { orgId: 'org_a' } } });
    const { item } = await until('it is answered', () => got.find((one) => one.callId === callId));
    if (item.case === 'run') return `${item.value.run?.runId}${item.value.replayed ? ' again' : ''}`;
    return item.case === 'error' ? item.value.code : `${item.case}`;
  }

  const started = (replayed = false): StartReply =>
    ({ case: 'run', value: { run: runView(runs.queued), replayed } }) as never;
  const refused = (code: string): StartReply => ({ case: 'error', value: { code, message: '' } }) as never;
  const { runId } = runs.queued.facts;

  test('sends a gateway the state of the node at once, and at every change', async () => {
    const states = () => got.flatMap(({ item }) => (item.case === 'status' ? [item.value.shardsOwned] : []));
    await until('the first', () => states().length === 1);
    shardsOwned = 9;
    rpc.stateChanged();
    await until('the second', () => states().length === 2);
    assert.deepEqual(states(), [4, 9]);
  });

  test('a start uses a shard of this node if it has one', async () => {
    peers.set('peer', started());
    assert.equal(await start(), runId);
    assert.deepEqual([startedHere, asked], [1, []]);
  });

  test('without shards a start goes to a peer, skipping those that do not reply or have no shards either', async () => {
    shardsOwned = 0;
    peers.set('silent', new ServiceError('unavailable'));
    peers.set('without shards', refused('unavailable'));
    peers.set('owner', started(true));
    peers.set('another', started());
    assert.equal(await start(), `${runId} again`);
    assert.deepEqual([startedHere, asked], [0, ['silent', 'without shards', 'owner']]);
  });

  test('passes on the refusal of a peer', async () => {
    shardsOwned = 0;
    peers.set('owner', refused('idempotency_conflict'));
    peers.set('another', started());
    assert.equal(await start(), 'idempotency_conflict');
  });

  test('refuses a start as unavailable when no node has shards', async () => {
    shardsOwned = 0;
    assert.equal(await start(), 'unavailable');
  });
});
