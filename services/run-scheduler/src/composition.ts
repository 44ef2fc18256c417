// A node of the run-scheduler, to be read from top to bottom: settings and pools, the parts in the order of their
// dependencies, their listeners, the repeated tasks, and the order of start and stop. A part gets its dependencies by
// its constructor; if two parts need each other, one of them gets a function that calls the other.
import { Clock, systemClock } from '@methods/base/clock';
import { type RunId, shardOfRunId } from '@methods/base/ids';
import { type Stoppable, startAll, stopAll } from '@methods/base/stoppable';
import { Bus } from '@methods/bus/connection';
import type { Logger } from '@methods/logging/logger';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { PeerService } from '@methods/proto/peer/v1/peer_service_pb';
import { BulkService } from '@methods/proto/scheduler/v1/bulk_service_pb';
import { QuestionService } from '@methods/proto/scheduler/v1/question_service_pb';
import { RunSchedulerService } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { WorkerListService } from '@methods/proto/scheduler/v1/worker_list_service_pb';
import { RpcServer, served } from '@methods/rpc/server';
import { AuditLog } from '@methods/service/audit-log';
import { ValueThreads } from '@methods/value-threads/value-threads';
import { container } from 'tsyringe';
import { Committer } from './actor/committer.ts';
import { RunActors } from './actor/run-actors.ts';
import { CommandConsumer } from './bus/command-consumer.ts';
import { EventRelay } from './bus/event-relay.ts';
import type { EventPublisher } from './bus/event-sender.ts';
import { HeardEvents } from './bus/heard-events.ts';
import { LiveChanges } from './bus/live-changes.ts';
import { NodeBus } from './bus/node-bus.ts';
import { runEvent } from './bus/run-event.ts';
import { RunOwners } from './bus/run-owners.ts';
import { ClaimRuns } from './claim/claim-runs.ts';
import { ClaimsAtOnce } from './claim/claims-at-once.ts';
import type { Config } from './config.ts';
import { NodeRoutes } from './peer/node-routes.ts';
import { PeerRouter } from './peer/peer-router.ts';
import { ShardMoves } from './peer/shard-moves.ts';
import { ClaimWaiters } from './queue/claim-waiters.ts';
import { InterestNews } from './queue/interest-news.ts';
import { QueueInterests } from './queue/queue-interests.ts';
import { ReadyRuns } from './queue/ready-runs.ts';
import { FolderSweep } from './retention/folder-sweep.ts';
import { OldRuns } from './retention/old-runs.ts';
import { RetentionSweep } from './retention/retention-sweep.ts';
import { AnswerChecks, AnswerRuns } from './rpc/answer-run.ts';
import { BulkRpc } from './rpc/bulk-service.ts';
import { FILE_SHARE, InputFiles } from './rpc/input-files.ts';
import { listWorkers } from './rpc/lists.ts';
import { OrganizationFollowers } from './rpc/organization-followers.ts';
import { QuestionRpc } from './rpc/question-service.ts';
import { readServices } from './rpc/read-services.ts';
import { RegistryClient } from './rpc/registry-client.ts';
import { RestedTurns } from './rpc/rested-turns.ts';
import { RunSchedulerRpc } from './rpc/run-scheduler-service.ts';
import { RunWatchers } from './rpc/run-watchers.ts';
import { StartRuns } from './rpc/start-run.ts';
import { UnfinishedRuns } from './rpc/unfinished-runs.ts';
import { serveWorkers } from './rpc/worker-service.ts';
import type { Run } from './run/run.ts';
import { Membership } from './shard/membership.ts';
import { ShardLease } from './shard/shard-lease.ts';
import { ShardOwner } from './shard/shard-owner.ts';
import { BulkCandidates } from './store/bulk-candidates.ts';
import { BulkStore } from './store/bulk-store.ts';
import { ClockLook, DatabaseClock } from './store/database-clock.ts';
import { FileStore } from './store/file-store.ts';
import { OpenQuestionSweep } from './store/open-question-sweep.ts';
import { PostgresOutbox } from './store/outbox.ts';
import { PostgresRunStore } from './store/postgres-run-store.ts';
import { QuestionFinder } from './store/question-finder.ts';
import { QuestionLists } from './store/question-lists.ts';
import { RetiredIndex } from './store/retired-index.ts';
import { RunFolderStore } from './store/run-folder-store.ts';
import { RunLists } from './store/run-lists.ts';
import { openPools, schedulerDatabase } from './store/scheduler-database.ts';
import { UnrecordedAnswers } from './store/unrecorded-answers.ts';
import { DueQuestions } from './timer/due-questions.ts';
import { NodeTicks } from './timer/node-ticks.ts';
import { TimeoutAnswers } from './timer/timeout-answers.ts';
import { PeerLinks } from './wire/peer-links.ts';
import { FormThreads } from './worker-stream/form-threads.ts';
import { GrantDesk } from './worker-stream/grant-desk.ts';
import { HeartbeatSender } from './worker-stream/heartbeat-sender.ts';
import { HeldGrants } from './worker-stream/held-grants.ts';
import { HelloPace } from './worker-stream/hello-pace.ts';
import { LeaseKeeper } from './worker-stream/lease-keeper.ts';
import { LeaseRecovery } from './worker-stream/lease-recovery.ts';
import { OwnerLink } from './worker-stream/owner-link.ts';
import { QuestionForms } from './worker-stream/question-forms.ts';
import { WorkerAdmission } from './worker-stream/worker-admission.ts';
import { WorkerNews } from './worker-stream/worker-news.ts';
import { WorkerReports } from './worker-stream/worker-reports.ts';
import { newNodeId, WorkerSessions } from './worker-stream/worker-sessions.ts';

export interface RunScheduler extends Stoppable {
  /** @throws an Error whose message is for the operator. */
  start(): Promise<void>;
  readonly nodeId: string;
  readonly port: number;
  readonly workerPort: number;
}

const COMMIT_DEADLINE_MS = 5_000;
const READ_DEADLINE_MS = 5_000;
/** An answer of 64 KiB, with its comment and its sender. */
const ANSWER_REQUEST_BYTES_MAX = 128 * 1024;

export function composeRunScheduler(config: Config, logger: Logger, clock: Clock = systemClock): RunScheduler {
  const nodeId = newNodeId();
  const { shardCount, maxAttempts, workerLeaseMs: leaseMs } = config;
  const log = (part: string) => logger.child({ node: nodeId, part });
  let draining = false;

  // Functions that many parts use, of the shards and the database's clock, which are made below.
  const owns = (shard: number) => shards.owns(shard);
  const ownsRun = (runId: RunId) => shards.owns(shardOfRunId(runId, shardCount) ?? -1);
  const ownedShards = () => shards.owned();
  const epochOf = (shard: number) => shards.epochOf(shard);
  const databaseNowMs = () => databaseClock.nowMs();
  const node = { nodeId, shardCount, clock, owns, ownsRun, ownedShards, epochOf, databaseNowMs };

  const url = config.postgresUrl.reveal();
  const pools = openPools(url, nodeId);
  const database = schedulerDatabase(url, nodeId, log('database'));

  // Stores, and the database's time.
  const deadlines = { commitDeadlineMs: COMMIT_DEADLINE_MS, readDeadlineMs: READ_DEADLINE_MS };
  const store = new PostgresRunStore({ writer: pools.writer, reader: database.sql, ...deadlines });
  const outbox = new PostgresOutbox({ sql: pools.outbox, deadlineMs: READ_DEADLINE_MS });
  /** Serves lists of one organization's runs; look-ups by id are shared by many organizations. */
  const reader = new OrganizationReader({ sql: database.sql, role: readerRole('scheduler') });
  const lists = new RunLists({ reader, deadlineMs: READ_DEADLINE_MS });
  const questionLists = new QuestionLists({ reader, deadlineMs: READ_DEADLINE_MS });
  const finder = new QuestionFinder({ reader, deadlineMs: READ_DEADLINE_MS });
  const folders = new RunFolderStore(pools.folders);
  const files = new FileStore(pools.files, FILE_SHARE);
  const upkeep = { sql: pools.retention, isMine: () => owns(0), logger: log('storage') };
  const retiredIndex = new RetiredIndex(upkeep);
  const questionSweep = new OpenQuestionSweep(upkeep);
  const databaseClock = new DatabaseClock(clock);
  const clockLook = new ClockLook({ databaseClock, ask: () => store.clockMs(), logger: log('clock') });

  // The registry and the bus; the other nodes, the links to them, and this node's shards.
  const registry = new RegistryClient(config.methodRegistryUrl, clock, config.people);
  const bus = new Bus({ url: config.natsUrl.reveal(), name: nodeId, logger: log('bus') });
  const peerAddress = () => config.peerAddress ?? `${hostOf(config.listen)}:${server.port}`;
  const membership = new Membership({ ...node, peerAddress, bus, sql: pools.beats, logger: log('members') });
  const peers = new PeerLinks({ ...node, peerAddress, membership, logger: log('peers') });
  const lease = new ShardLease({ sql: pools.shards, nodeId });
  const shards = new ShardOwner({ ...node, membership, lease, peers, logger: log('shards') });

  // Retention.
  const folderSweep = new FolderSweep({ folders, files, logger: log('folders') });
  const runs = new OldRuns({ sql: pools.retention, deadlineMs: COMMIT_DEADLINE_MS });
  const sweeps = { sweepMs: config.retentionSweepMs, random: Math.random, logger: log('retention') };
  const retention = new RetentionSweep({ ...node, ...sweeps, runs, retention: registry.retention, databaseClock });

  // The actors of runs: every write of a run passes through them.
  const bump = async (list: Parameters<ShardOwner['bump']>[0]) => {
    await shards.bump(list);
    void recovery.taken(list);
  };
  const epochs = { epochOf, lost: (list: Parameters<ShardOwner['lost']>[0]) => shards.lost(list), bump };
  const committer = new Committer({ store, shards: epochs, clock, databaseClock, logger: log('committer') });
  const takesEvent = registry.endpointEvents.takes.bind(registry.endpointEvents);
  const heard = new HeardEvents({ clock, takesEvent });
  const events = { isHeard: heard.isHeard.bind(heard), eventFor: runEvent };
  const actors = new RunActors({ ...node, store, committer, databaseClock, ...events, logger: log('runs') });

  // Messages to a node, which may be this one.
  const routes: NodeRoutes = new NodeRoutes({
    ...node,
    peers,
    local: () => ({ waiters, claims, keeper, sessions }),
    publishHeartbeats: (to, body) => nodeBus.publishHeartbeats(to, body),
  });

  // Queues: waiting runs, the nodes that have workers for them, and the places of this node's workers.
  const announce: QueueInterests['announce'] = (key, head) => interests.announce(key, head);
  const ready = new ReadyRuns({ store, logger: log('queue'), ownedShards, announce });
  const interests = new QueueInterests({ ready: () => ready, tell: routes.tellHead.bind(routes) });
  const waiters: ClaimWaiters = new ClaimWaiters({
    ...node,
    send: (to, offer) => routes.offerClaim(to, offer),
    interestChanged: (change) => news.changed(change),
  });
  const news = new InterestNews({
    clock,
    interest: () => waiters.interest(),
    changedHere: (change) => interests.changed(nodeId, change),
    peers: () => peers.connected(),
    send: (peer, part) => peers.send(peer, { item: { case: 'interest', value: part } }),
  });

  // Leases, grants and claims.
  const notices = { cancelNotice: routes.cancelNotice.bind(routes), refuse: routes.refuse.bind(routes) };
  const leased = { ...node, ...notices, leaseMs, actors: () => actors, isMember: membership.isAlive.bind(membership) };
  const keeper: LeaseKeeper = new LeaseKeeper({ ...leased, logger: log('leases') });
  const returns = { returnGrant: keeper.returnGrant.bind(keeper), tooLarge: keeper.endTooLarge.bind(keeper) };
  const sends = { ...returns, deliver: routes.deliverGrant.bind(routes), epochOf };
  const grants = new GrantDesk({ store, leases: keeper.leases, ...sends, logger: log('grants') });
  const claims: ClaimRuns = new ClaimRuns({ ready, actors, grants, clock });
  const claimsAtOnce = new ClaimsAtOnce({ nodeId, actors, ready, waiters, grants });

  // Workers: their sessions, the runs they hold, and their reports.
  const formThreads = new FormThreads();
  const valueThreads = new ValueThreads();
  const versionOf = registry.savedVersion.bind(registry);
  const noted = ({ facts }: Run, path: string) => store.outOfStep(facts.orgId, facts.runId, path);
  const forms = new QuestionForms({ versionOf, derive: formThreads.derive.bind(formThreads), noted, clock });
  const reports = new WorkerReports({ actors, leases: keeper.leases, forms });
  const held = new HeldGrants(clock);
  const ownerLink = new OwnerLink({ ...node, shards, peers, reports, keeper });
  const helloPace = new HelloPace(clock);
  const admission = new WorkerAdmission({ pace: helloPace, methods: registry.methods, waiters });
  const beats = { heartbeatMs: config.heartbeatMs, leaseMs };
  const workerNews = new WorkerNews(clock, (orgId) => nodeBus.publishWorkersChanged(orgId));
  const places = { waiters, admission, held, owners: ownerLink, news: workerNews };
  const sessions: WorkerSessions = new WorkerSessions({ ...node, ...beats, ...places, logger: log('workers') });
  const members = () => membership.members().map((member) => member.nodeId);
  const send = routes.heartbeats.bind(routes);
  const heartbeats = new HeartbeatSender({ ...node, leaseMs, held, shards, members, send });
  const isClaiming = grants.expects.bind(grants);
  const sessionIds = sessions.sessionIds.bind(sessions);
  const overtaken = { store, actors, keeper, held, sessions: sessionIds, peers, isClaiming };
  const recovery: LeaseRecovery = new LeaseRecovery({ ...node, ...overtaken, logger: log('lease-recovery') });

  // Deadlines, events, and watchers of runs.
  const audit = new AuditLog({ clock, logger: log('audit'), send: (lines) => registry.recordAudit(lines) });
  const unrecorded = new UnrecordedAnswers({ sql: pools.retention, deadlineMs: READ_DEADLINE_MS });
  const timeouts = new TimeoutAnswers({ ...upkeep, audit, rows: unrecorded, clock, logger: log('audit') });
  const due = new DueQuestions({ ...node, store, actors, databaseClock, logger: log('deadlines') });
  const publisher: EventPublisher = { publish: (event) => nodeBus.publishEvent(event) };
  const relay = new EventRelay({ ...node, outbox, publisher, databaseClock, heard, logger: log('relay') });
  const watchers = new RunWatchers({
    ...node,
    read: (runId) => actors.read(runId),
    shardWatched: (shard, watched) => nodeBus.watchShard(shard, watched),
    stepsWatched: (runIds) => nodeBus.publishWatched(runIds),
  });
  const followers = new OrganizationFollowers(clock);
  const hasPeers = () => peers.connected().length > 0;
  const publish: NodeBus['publishLive'] = (shard, body) => nodeBus.publishLive(shard, body);
  const live = new LiveChanges({ ...node, hasPeers, publish });

  // The bus: commands from other nodes, and this node's commands to the owners of runs.
  const publishReplies: NodeBus['publishReplies'] = (subject, replies) => nodeBus.publishReplies(subject, replies);
  const consumed = { claims: claimsAtOnce, databaseNowMs, publishReplies };
  const commands = new CommandConsumer({ ...consumed, logger: log('commands') });
  const nodeBus: NodeBus = new NodeBus(bus, nodeId, {
    command: (body, ack) => void commands.received(body, ack),
    commandReplies: (body) => owners.received(body),
    heartbeats: (from, runs) => keeper.heartbeats(from, runs),
    changedElsewhere: (runIds) => watchers.changedElsewhere(runIds),
    stepsWatched: (runIds) => live.watchedElsewhere(runIds),
    eventsStored: (body) => relay.confirmed(body),
    keyChanged: (keyId) => {
      registry.keys.changed(keyId);
      void sessions.keyChanged(keyId);
    },
    settingsChanged: (orgId) => registry.retention.changed(orgId),
    endpointsChanged: (orgId) => registry.endpointEvents.changed(orgId),
    connected: () => {
      registry.endpointEvents.missed();
      heartbeats.tellAll();
      void relay.sendAll();
    },
    shardLost: (shard, epoch) => shards.lost([{ shard, epoch }]),
  });
  const { replySubject } = nodeBus;
  const owners: RunOwners = new RunOwners({ ...node, claims: claimsAtOnce, shards, peers, bus: nodeBus, replySubject });

  // The services that gateways, peers and workers call.
  const answerChecks = new AnswerChecks({ versionOf, threads: formThreads, logger: log('answers') });
  const answers = new AnswerRuns({ actors, owners, values: valueThreads, checks: answerChecks });
  const inputFiles = new InputFiles(files);
  const unfinished = new UnfinishedRuns({ store, clock, logger: log('starts') });
  const kept = { actors, store, folders, turns: new RestedTurns('runs from a later step', clock) };
  const begun = { maxAttempts, databaseClock, nextStartShard: () => shards.nextStartShard() };
  const checked = { unfinished, kept, files: inputFiles, store };
  const starts = new StartRuns({ ...node, ...begun, ...checked, actors, claims: claimsAtOnce });
  const listTurns = new RestedTurns('lists', clock);
  const page: RunLists['page'] = (selection) => listTurns.run(selection.orgId, () => lists.page(selection));
  const asked = { actors, answers, owners, watchers, followers, interests, lists: { page }, logger: log('gateways') };
  const state = () => {
    const shardsOwned = draining ? 0 : shards.ownedCount;
    return { nodeId, shardCount, shardsOwned, draining, ready: !draining && (shardsOwned > 0 || hasPeers()) };
  };
  const gatewayRpc = new RunSchedulerRpc({ services: asked, starts, peers, folders, files: inputFiles, state });
  const turns = new RestedTurns('questions', clock);
  const questions = new QuestionRpc({ lists: questionLists, finder, turns, answers, owners });
  const bulk = new BulkRpc({
    store: new BulkStore({ sql: pools.bulk, deadlineMs: COMMIT_DEADLINE_MS }),
    candidates: new BulkCandidates({ reader, deadlineMs: READ_DEADLINE_MS }),
    turns: new RestedTurns('changes of many runs', clock),
  });
  const server: RpcServer = new RpcServer({
    listen: config.listen,
    services: [
      served(RunSchedulerService, gatewayRpc.handlers),
      served(BulkService, bulk.handlers),
      ...readServices({ reader, deadlineMs: READ_DEADLINE_MS, clock, interests }),
      served(WorkerListService, { listWorkers: (request) => listWorkers(sessions, request) }),
      served(QuestionService, questions.handlers, { answerQuestion: ANSWER_REQUEST_BYTES_MAX }),
      served(PeerService, peers.serve),
    ],
    logger: log('rpc'),
    graceMs: 1_000,
  });
  const workers = { keys: registry.keys, sessions, registry: registry.calls, folders, files, actors };
  const workerTls = config.workerTls ?? undefined;
  const workerServer = serveWorkers({ ...workers, logger: log('workers') }, config.workerListen, workerTls, log('rpc'));

  // The container makes the parts that depend only on other parts.
  const parts = container.createChildContainer();
  parts.registerInstance(Clock, clock);
  const sweeping = [folderSweep, retiredIndex, questionSweep, timeouts, helloPace, clockLook, watchers, heartbeats];
  const moving = [nodeBus, store, committer, actors, ready, keeper, due, relay, recovery];
  const routed = [commands, interests, waiters, claims, ownerLink, reports, sessions, starts, peers];
  for (const part of [...sweeping, ...moving, ...routed]) {
    parts.registerInstance(part.constructor as new () => object, part);
  }
  const router = parts.resolve(PeerRouter);
  const moves = parts.resolve(ShardMoves);
  const ticks = parts.resolve(NodeTicks);

  // Connects listeners. A commit reaches the listeners of actors in this order.
  function listen(): void {
    databaseClock.onJump(() => due.look());
    for (const listener of [grants, keeper, watchers, live, followers, due, timeouts, claims]) actors.listen(listener);
    actors.listen({ committed: (before, after) => ready.committed(before, after) });
    actors.listenEvents((events) => relay.committed(events));
    actors.listenEarly((run) => grants.grantEarly(run));
    peers.onItem((from, item, reply) => router.received(from, item, reply));
    peers.onConnected((peer) => {
      news.tell(peer);
      heartbeats.tellAll();
    });
    peers.onDown((peer) => {
      interests.nodeGone(peer);
      waiters.nodeGone(peer);
    });
    shards.onTaken((taken) => moves.taken(taken));
    shards.onLost((lost) => {
      moves.lost(lost);
      // Commits in flight may have happened, and their actors are gone.
      followers.missed();
    });
    shards.onReleasing((released) => moves.releasing(released));
    shards.onChange(() => {
      watchers.ownersChanged();
      gatewayRpc.stateChanged();
    });
  }

  // The order of start; a stop uses the reverse order. So a stop first drains: workers finish their reports and the
  // shards move while the links to other nodes still exist.
  const observeClock = async () => databaseClock.observe(await database.untilDone(() => store.clockMs()));
  const stopsNothing = () => {};
  const order: Stoppable[] = [
    pools,
    database,
    registry,
    audit,
    formThreads,
    valueThreads,
    { start: observeClock, stop: stopsNothing },
    { start: listen, stop: stopsNothing },
    nodeBus,
    server,
    membership,
    peers,
    due,
    ticks,
    retention,
    { start: () => database.untilDone(() => shards.start()), stop: () => shards.stop() },
    workerServer,
    {
      stop: async () => {
        draining = true;
        gatewayRpc.stateChanged();
        sessions.drain();
        await committer.idle();
      },
    },
  ];
  return {
    nodeId,
    start: () => startAll(order),
    stop: () => stopAll(order),
    get port() {
      return server.port;
    },
    get workerPort() {
      return workerServer.port;
    },
  };
}

const hostOf = (listen: string) => listen.slice(0, listen.lastIndexOf(':'));
