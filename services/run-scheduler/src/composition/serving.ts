// The services that gateways, peers and workers call.

import { PeerService } from '@methods/proto/peer/v1/peer_service_pb';
import { RunSchedulerService } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { RpcServer, served } from '@methods/rpc/server';
import { ValueThreads } from '@methods/value-threads/value-threads';
import { PeerRouter } from '../peer/peer-router.ts';
import { AnswerChecks } from '../rpc/answer-checks.ts';
import { AnswerRuns } from '../rpc/answer-run.ts';
import { InputFiles } from '../rpc/input-files.ts';
import { RestedTurns } from '../rpc/rested-turns.ts';
import { RunSchedulerRpc } from '../rpc/run-scheduler-service.ts';
import { StartRuns } from '../rpc/start-run.ts';
import { UnfinishedRuns } from '../rpc/unfinished-runs.ts';
import { WORKER_ELEMENTS_MAX, workerAdmission, workerRequestSizes, workerService } from '../rpc/worker-service.ts';
import { type NodeParts, WorkerServer } from './node-parts.ts';

export function provideServing(parts: NodeParts): void {
  const {
    provide,
    config,
    clock,
    nodeId,
    shardCount,
    log,
    state,
    owns,
    store,
    folders,
    files,
    inputFiles,
    databaseClock,
    registry,
    peers,
    shards,
    actors,
    interests,
    lists,
    waiters,
    keeper,
    claims,
    claimsAtOnce,
    reports,
    ownerLink,
    sessions,
    takeOver,
    watchers,
    followers,
    commands,
    owners,
    starts,
    gatewayRpc,
    valueThreads,
    formThreads,
  } = parts;
  const listTurns = new RestedTurns('lists', clock);
  provide(ValueThreads, () => new ValueThreads());
  provide(InputFiles, () => new InputFiles(files()));
  provide(
    StartRuns,
    () =>
      new StartRuns({
        maxAttempts: config.maxAttempts,
        actors: actors(),
        databaseClock: databaseClock(),
        claims: claimsAtOnce(),
        nextStartShard: () => shards().nextStartShard(),
        owns,
        unfinished: new UnfinishedRuns({ store: store(), clock, logger: log.child({ part: 'starts' }) }),
        kept: {
          actors: actors(),
          store: store(),
          folders: folders(),
          turns: new RestedTurns('runs from a later step', clock),
        },
        files: inputFiles(),
      }),
  );
  provide(
    RunSchedulerRpc,
    () =>
      new RunSchedulerRpc({
        services: {
          actors: actors(),
          answers: new AnswerRuns({
            actors: actors(),
            owners: owners(),
            values: valueThreads(),
            checks: new AnswerChecks({
              versionOf: (orgId, method, versionId) => registry().savedVersion(orgId, method, versionId),
              threads: formThreads(),
              logger: log.child({ part: 'answers' }),
            }),
          }),
          owners: owners(),
          watchers: watchers(),
          followers: followers(),
          interests: interests(),
          lists: { page: (selection) => listTurns.run(selection.orgId, () => lists().page(selection)) },
          logger: log.child({ part: 'gateways' }),
        },
        starts: starts(),
        peers: peers(),
        folders: folders(),
        files: inputFiles(),
        state: () => {
          const shardsOwned = state.draining ? 0 : shards().ownedCount;
          return {
            nodeId,
            shardsOwned,
            draining: state.draining,
            ready: !state.draining && (shardsOwned > 0 || peers().connected().length > 0),
            shardCount,
          };
        },
      }),
  );
  provide(
    PeerRouter,
    () =>
      new PeerRouter({
        commands: commands(),
        interests: interests(),
        waiters: waiters(),
        claims: claims(),
        keeper: keeper(),
        owners: ownerLink(),
        reports: reports(),
        sessions: sessions(),
        starts: starts(),
        takeOver: takeOver(),
        peers: peers(),
      }),
  );
  provide(
    RpcServer,
    () =>
      new RpcServer({
        listen: config.listen,
        services: [served(RunSchedulerService, gatewayRpc().handlers), served(PeerService, peers().serve)],
        logger: log.child({ part: 'rpc' }),
        graceMs: 1_000,
      }),
  );
  provide(
    WorkerServer,
    () =>
      new WorkerServer({
        listen: config.workerListen,
        tls: config.workerTls ?? undefined,
        services: [
          served(
            WorkerService,
            workerService({
              keys: registry().keys,
              sessions: sessions(),
              registry: registry().calls,
              folders: folders(),
              files: files(),
              actors: actors(),
              logger: log.child({ part: 'workers' }),
            }),
            workerRequestSizes,
          ),
        ],
        admission: workerAdmission(registry().keys),
        elementsMax: WORKER_ELEMENTS_MAX,
        streamsPerConnectionMax: 128,
        logger: log.child({ part: 'rpc' }),
        graceMs: 1_000,
      }),
  );
}
