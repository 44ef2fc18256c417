// The run-scheduler's parts, how they know each other, and the order they start and stop in. Each is made when it is
// first asked for; where two know each other, one asks late.
import { type Clock, systemClock } from '@methods/base/clock';
import { shardOfRunId } from '@methods/base/ids';
import { type Stoppable, startAll, stopAll } from '@methods/base/stoppable';
import { Bus } from '@methods/bus/connection';
import type { Logger } from '@methods/logging/logger';
import { openPool, type Sql } from '@methods/postgres/pool';
import { ServiceDatabase } from '@methods/postgres/service-database';
import { PeerService } from '@methods/proto/peer/v1/peer_service_pb';
import { RunSchedulerService } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { RpcServer, served } from '@methods/rpc/server';
import { container, type InjectionToken, instanceCachingFactory } from 'tsyringe';
import { Committer } from './actor/committer.ts';
import { RunActors } from './actor/run-actors.ts';
import { CommandConsumer } from './bus/command-consumer.ts';
import { EventRelay } from './bus/event-relay.ts';
import { LiveChanges } from './bus/live-changes.ts';
import { NodeBus } from './bus/node-bus.ts';
import { runEvent } from './bus/run-event.ts';
import { RunOwners } from './bus/run-owners.ts';
import type { Config } from './config.ts';
import { DatabaseClock } from './database-clock.ts';
import { NodeRoutes } from './peer/node-routes.ts';
import { PeerLinks } from './peer/peer-links.ts';
import { PeerRouter } from './peer/peer-router.ts';
import { ClaimRuns } from './queue/claim-runs.ts';
import { ClaimWaiters } from './queue/claim-waiters.ts';
import { QueueInterests } from './queue/queue-interests.ts';
import { ReadyRuns } from './queue/ready-runs.ts';
import { AnswerRuns } from './rpc/answer-run.ts';
import { RegistryClient } from './rpc/registry-client.ts';
import { RunSchedulerRpc } from './rpc/run-scheduler-service.ts';
import { RunWatchers } from './rpc/run-watchers.ts';
import { StartRuns } from './rpc/start-run.ts';
import { workerService } from './rpc/worker-service.ts';
import { Membership } from './shard/membership.ts';
import { ShardLease } from './shard/shard-lease.ts';
import { ShardOwner } from './shard/shard-owner.ts';
import { PostgresRunStore, writerSettings } from './store/postgres-run-store.ts';
import { RunFolderStore } from './store/run-folder-store.ts';
import { DueQuestions } from './timer/due-questions.ts';
import { Ticks } from './timer/ticks.ts';
import { GrantDesk } from './worker-stream/grant-desk.ts';
import { HeartbeatSender } from './worker-stream/heartbeat-sender.ts';
import { HeldGrants } from './worker-stream/held-grants.ts';
import { LeaseKeeper } from './worker-stream/lease-keeper.ts';
import { OwnerLink } from './worker-stream/owner-link.ts';
import { TakeOver } from './worker-stream/take-over.ts';
import { WorkerReports } from './worker-stream/worker-reports.ts';
import { newNodeId, WorkerSessions } from './worker-stream/worker-sessions.ts';

const MIGRATIONS = new URL('../migrations/', import.meta.url);
const COMMIT_DEADLINE_MS = 5_000;
const READ_DEADLINE_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 4_000;

export interface RunScheduler extends Stoppable {
  /** @throws an Error whose message is for the operator. */
  start(): Promise<void>;
  readonly nodeId: string;
  readonly port: number;
  readonly workerPort: number;
}

type Part<T> = InjectionToken<T> & (new (...args: never[]) => T);

export function composeRunScheduler(config: Config, logger: Logger, clock: Clock = systemClock): RunScheduler {
  const nodeId = newNodeId();
  const { shardCount } = config;
  const log = logger.child({ node: nodeId });
  const parts = container.createChildContainer();
  const provide = <T>(token: Part<T>, make: () => T) => {
    parts.register(token, { useFactory: instanceCachingFactory(make) });
  };
  const get =
    <T>(token: Part<T>) =>
    (): T =>
      parts.resolve(token);
  const database = get(ServiceDatabase);
  const store = get(PostgresRunStore);
  const folders = get(RunFolderStore);
  const databaseClock = get(DatabaseClock);
  const registry = get(RegistryClient);
  const bus = get(Bus);
  const membership = get(Membership);
  const peers = get(PeerLinks);
  const shards = get(ShardOwner);
  const committer = get(Committer);
  const actors = get(RunActors);
  const routes = get(NodeRoutes);
  const interests = get(QueueInterests);
  const ready = get(ReadyRuns);
  const waiters = get(ClaimWaiters);
  const keeper = get(LeaseKeeper);
  const grants = get(GrantDesk);
  const claims = get(ClaimRuns);
  const reports = get(WorkerReports);
  const held = get(HeldGrants);
  const ownerLink = get(OwnerLink);
  const sessions = get(WorkerSessions);
  const heartbeats = get(HeartbeatSender);
  const takeOver = get(TakeOver);
  const due = get(DueQuestions);
  const relay = get(EventRelay);
  const watchers = get(RunWatchers);
  const live = get(LiveChanges);
  const commands = get(CommandConsumer);
  const nodeBus = get(NodeBus);
  const owners = get(RunOwners);
  const starts = get(StartRuns);
  const gatewayRpc = get(RunSchedulerRpc);
  const router = get(PeerRouter);
  const server = get(RpcServer);
  const ownsRun = (runId: string) => owns(shardOfRunId(runId, shardCount) ?? -1);
  const owns = (shard: number) => shards().owns(shard);
  const owned = () => shards().owned();
  const epochOf = (shard: number) => shards().epochOf(shard);
  const peerAddress = () => config.peerAddress ?? `${hostOf(config.listen)}:${server().port}`;

  // Storage and time.
  const url = config.postgresUrl.reveal();
  provide(
    ServiceDatabase,
    () =>
      new ServiceDatabase({
        url,
        applicationName: nodeId,
        schema: 'scheduler',
        migrations: MIGRATIONS,
        logger: log.child({ part: 'database' }),
      }),
  );
  const pool = (max: number, settings: Readonly<Record<string, string>> = {}): Sql =>
    openPool({ url, applicationName: nodeId, max, statementTimeoutMs: STATEMENT_TIMEOUT_MS, settings });
  const writer = pool(1, writerSettings);
  const shardSql = pool(3);
  const beatSql = pool(2);
  provide(
    PostgresRunStore,
    () =>
      new PostgresRunStore({
        writer,
        reader: database().sql,
        commitDeadlineMs: COMMIT_DEADLINE_MS,
        readDeadlineMs: READ_DEADLINE_MS,
      }),
  );
  provide(RunFolderStore, () => new RunFolderStore(database().sql));
  provide(DatabaseClock, () => new DatabaseClock(clock));
  const databaseNowMs = () => databaseClock().nowMs();
  provide(RegistryClient, () => new RegistryClient(config.methodRegistryUrl, () => clock.monotonicMs()));
  provide(Bus, () => new Bus({ url: config.natsUrl.reveal(), name: nodeId, logger: log.child({ part: 'bus' }) }));

  // Shards and peers.
  provide(
    Membership,
    () =>
      new Membership({ nodeId, peerAddress, bus: bus(), sql: beatSql, clock, logger: log.child({ part: 'members' }) }),
  );
  provide(
    PeerLinks,
    () => new PeerLinks({ nodeId, peerAddress, membership: membership(), clock, logger: log.child({ part: 'peers' }) }),
  );
  provide(
    ShardOwner,
    () =>
      new ShardOwner({
        nodeId,
        shardCount,
        membership: membership(),
        lease: new ShardLease({ sql: shardSql, nodeId }),
        peers: peers(),
        clock,
        logger: log.child({ part: 'shards' }),
      }),
  );

  // Runs.
  provide(
    Committer,
    () =>
      new Committer({
        store: store(),
        shards: { epochOf, lost: (list) => shards().lost(list), bump: (list) => bumpShards(list) },
        clock,
        databaseClock: databaseClock(),
        logger: log.child({ part: 'committer' }),
      }),
  );
  provide(
    RunActors,
    () =>
      new RunActors({
        store: store(),
        committer: committer(),
        databaseClock: databaseClock(),
        clock,
        shardCount,
        owns,
        eventFor: (run, effect) => runEvent(run, effect.event),
      }),
  );
  /** After a commit without a reply what the actors of its shards know is in doubt. */
  const bumpShards = async (list: readonly number[]): Promise<void> => {
    await shards().bump(list);
  };

  // Queues, workers and leases.
  provide(
    NodeRoutes,
    () =>
      new NodeRoutes({
        nodeId,
        peers: peers(),
        local: () => ({ waiters: waiters(), claims: claims(), keeper: keeper(), sessions: sessions() }),
        epochOf,
        publishHeartbeats: (to, body) => nodeBus().publishHeartbeats(to, body),
      }),
  );
  provide(
    QueueInterests,
    () => new QueueInterests({ ready, tell: (to, key, head) => routes().tellHead(to, key, head) }),
  );
  provide(
    ReadyRuns,
    () =>
      new ReadyRuns({
        store: store(),
        logger: log.child({ part: 'queue' }),
        ownedShards: owned,
        announce: (key, head) => interests().announce(key, head),
      }),
  );
  provide(
    ClaimWaiters,
    () =>
      new ClaimWaiters({
        nodeId,
        clock,
        send: (to, offer) => routes().offerClaim(to, offer),
        interestChanged: (queues) => {
          interests().peerAsks(nodeId, queues);
          for (const peer of peers().connected()) tellInterest(peer);
        },
      }),
  );
  const tellInterest = (peer: string) =>
    peers().send(peer, { item: { case: 'interest', value: { queues: waiters().interest(), whole: true } } });
  provide(
    LeaseKeeper,
    () =>
      new LeaseKeeper({
        nodeId,
        clock,
        leaseMs: config.workerLeaseMs,
        actors,
        ownsRun,
        isMember: (id) => membership().isAlive(id),
        cancelNotice: (to, notice) => routes().cancelNotice(to, notice),
        refuse: (to, runId, token) => routes().refuse(to, runId, token),
        logger: log.child({ part: 'leases' }),
      }),
  );
  provide(
    GrantDesk,
    () =>
      new GrantDesk({
        store: store(),
        leases: keeper().leases,
        actors,
        epochOf,
        deliver: (grant) => routes().deliverGrant(grant),
        logger: log.child({ part: 'grants' }),
      }),
  );
  provide(ClaimRuns, () => new ClaimRuns({ ready: ready(), actors: actors(), grants: grants() }));
  provide(WorkerReports, () => new WorkerReports({ actors: actors(), leases: keeper().leases }));
  provide(HeldGrants, () => new HeldGrants(clock));
  provide(
    OwnerLink,
    () =>
      new OwnerLink({
        nodeId,
        shardCount,
        shards: shards(),
        peers: peers(),
        reports: reports(),
        keeper: keeper(),
      }),
  );
  provide(
    WorkerSessions,
    () =>
      new WorkerSessions({
        nodeId,
        heartbeatMs: config.heartbeatMs,
        leaseMs: config.workerLeaseMs,
        shardCount,
        waiters: waiters(),
        held: held(),
        owners: ownerLink(),
        logger: log.child({ part: 'workers' }),
      }),
  );
  provide(
    HeartbeatSender,
    () =>
      new HeartbeatSender({
        clock,
        nodeId,
        shardCount,
        leaseMs: config.workerLeaseMs,
        held: held(),
        shards: shards(),
        members: () =>
          membership()
            .members()
            .map((member) => member.nodeId),
        send: (to, runs) => routes().heartbeats(to, runs),
      }),
  );
  provide(
    TakeOver,
    () =>
      new TakeOver({
        nodeId,
        store: store(),
        actors: actors(),
        keeper: keeper(),
        held: held(),
        sessions: () => sessions().sessionIds(),
        peers: peers(),
        logger: log.child({ part: 'take-over' }),
      }),
  );

  // What goes out after a commit, and what comes in over the bus.
  provide(
    DueQuestions,
    () =>
      new DueQuestions({
        store: store(),
        actors: actors(),
        databaseClock: databaseClock(),
        clock,
        ownedShards: owned,
        owns,
        logger: log.child({ part: 'deadlines' }),
      }),
  );
  provide(
    EventRelay,
    () =>
      new EventRelay({
        store: store(),
        publisher: { publish: (event) => nodeBus().publishEvent(event) },
        databaseClock: databaseClock(),
        shardCount,
        ownedShards: owned,
        owns,
        logger: log.child({ part: 'relay' }),
      }),
  );
  provide(
    RunWatchers,
    () =>
      new RunWatchers({
        shardCount,
        owns,
        read: (runId) => actors().read(runId),
        shardWatched: (shard, watched) => nodeBus().watchShard(shard, watched),
      }),
  );
  provide(
    LiveChanges,
    () =>
      new LiveChanges({
        hasPeers: () => peers().connected().length > 0,
        publish: (shard, body) => nodeBus().publishLive(shard, body),
      }),
  );
  provide(
    CommandConsumer,
    () =>
      new CommandConsumer({
        actors: actors(),
        databaseNowMs,
        publishReplies: (subject, replies) => nodeBus().publishReplies(subject, replies),
        logger: log.child({ part: 'commands' }),
      }),
  );
  provide(
    NodeBus,
    () =>
      new NodeBus(bus(), nodeId, {
        command: (body, ack) => void commands().received(body, ack),
        commandReplies: (body) => owners().received(body),
        heartbeats: (from, runs) => keeper().heartbeats(from, runs),
        changedElsewhere: (runIds) => watchers().changedElsewhere(runIds),
        eventsStored: (body) => relay().confirmed(body),
        keyChanged: (keyId) => {
          registry().keys.changed(keyId);
          sessions().keyChanged(keyId);
        },
        connected: () => {
          heartbeats().tellAll();
          void relay().sweep();
        },
        shardLost: (shard, epoch) => shards().lost([{ shard, epoch }]),
      }),
  );
  provide(
    RunOwners,
    () =>
      new RunOwners({
        nodeId,
        shardCount,
        clock,
        actors: actors(),
        shards: shards(),
        peers: peers(),
        bus: nodeBus(),
        replySubject: nodeBus().replySubject,
        databaseNowMs,
      }),
  );

  // What is served.
  provide(
    StartRuns,
    () =>
      new StartRuns({
        nodeId,
        maxAttempts: config.maxAttempts,
        actors: actors(),
        databaseClock: databaseClock(),
        ready: ready(),
        waiters: waiters(),
        grants: grants(),
        nextStartShard: () => shards().nextStartShard(),
        owns,
      }),
  );
  let draining = false;
  provide(
    RunSchedulerRpc,
    () =>
      new RunSchedulerRpc({
        services: {
          actors: actors(),
          answers: new AnswerRuns({ actors: actors(), owners: owners() }),
          owners: owners(),
          watchers: watchers(),
          logger: log.child({ part: 'gateways' }),
        },
        starts: starts(),
        peers: peers(),
        state: () => {
          const shardsOwned = draining ? 0 : owned().length;
          return {
            nodeId,
            shardsOwned,
            draining,
            ready: !draining && (shardsOwned > 0 || peers().connected().length > 0),
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
  let workerServer: RpcServer | null = null;

  const ticks = new Ticks(clock);
  // An offered place whose answer was lost is free again.
  ticks.every(500, () => waiters().sweep());
  // A queue that seems empty may have missed a wake-up.
  ticks.every(5_000, () => ready().recheckEmpty());
  // Unconfirmed events, and changes of watched runs whose message was lost.
  ticks.every(2_500, () => void relay().sweep());
  ticks.every(5_000, () => watchers().pollForeign());
  // Idle actors and the folders nobody needs.
  ticks.every(2_500, () => actors().sweep());
  ticks.every(
    600_000,
    () =>
      void folders()
        .sweep(1_000)
        .catch(() => {}),
  );
  ticks.every(500, () => keeper().leases.sweep());
  ticks.every(1_000, () => heartbeats().send());

  function listen(): void {
    actors().listen(grants());
    actors().listen(keeper());
    actors().listen(watchers());
    actors().listen(live());
    actors().listen(due());
    actors().listen({ committed: (before, after) => ready().committed(before, after) });
    actors().listenEvents((events) => relay().committed(events));
    peers().onItem((from, item, reply) => router().received(from, item, reply));
    peers().onConnected((peer) => {
      tellInterest(peer);
      heartbeats().tellAll();
    });
    peers().onDown((peer) => {
      interests().nodeGone(peer);
      waiters().nodeGone(peer);
    });
    shards().onTaken(async (taken) => {
      nodeBus().own(taken);
      actors().dropShards(new Set(taken.map(({ shard }) => shard)));
      ready().reset();
      due().look();
      await takeOver().taken(taken);
    });
    const letGo = (list: readonly number[]) => {
      const gone = new Set(list);
      nodeBus().disown(list);
      actors().dropShards(gone);
      keeper().leases.dropShards(gone);
      ready().reset();
    };
    shards().onLost(letGo);
    shards().onReleasing(async (list) => {
      actors().dropShards(new Set(list));
      await committer().idle();
      letGo(list);
    });
    shards().onChange(() => gatewayRpc().stateChanged());
  }

  const order: Stoppable[] = [
    { stop: () => Promise.all([writer, shardSql, beatSql].map((sql) => sql.end({ timeout: 2 }))).then(() => {}) },
    database(),
    registry(),
    { start: async () => databaseClock().observe(await store().clockMs()), stop: () => {} },
    { start: listen, stop: () => {} },
    { start: () => nodeBus().start(), stop: () => nodeBus().stop() },
    server(),
    membership(),
    peers(),
    { start: () => due().start(), stop: () => due().stop() },
    ticks,
    shards(),
    {
      start: async () => {
        workerServer = new RpcServer({
          listen: config.workerListen,
          services: [
            served(
              WorkerService,
              workerService({
                keys: registry().keys,
                sessions: sessions(),
                registry: registry().calls,
                folders: folders(),
                actors: actors(),
                logger: log.child({ part: 'workers' }),
              }),
            ),
          ],
          logger: log.child({ part: 'rpc' }),
          graceMs: 1_000,
        });
        await workerServer.start();
      },
      stop: async () => {
        draining = true;
        gatewayRpc().stateChanged();
        sessions().drain();
        await committer().idle();
      },
    },
  ];
  return {
    nodeId,
    start: () => startAll(order),
    stop: async () => {
      await stopAll(order).finally(() => workerServer?.stop());
    },
    get port() {
      return server().port;
    },
    get workerPort() {
      return workerServer?.port ?? 0;
    },
  };
}

function hostOf(listen: string): string {
  return listen.slice(0, listen.lastIndexOf(':'));
}
