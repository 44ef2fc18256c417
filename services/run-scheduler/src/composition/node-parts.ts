// The parts of a node by name: the files beside this one provide and use them.

import type { Clock } from '@methods/base/clock';
import { type RunId, shardOfRunId } from '@methods/base/ids';
import { Bus } from '@methods/bus/connection';
import type { Logger } from '@methods/logging/logger';
import { OrganizationReader } from '@methods/postgres/organization-reader';
import { openPool, type Sql } from '@methods/postgres/pool';
import { ServiceDatabase } from '@methods/postgres/service-database';
import { RpcServer } from '@methods/rpc/server';
import { ValueThreads } from '@methods/value-threads/value-threads';
import { type InjectionToken, instanceCachingFactory, container as rootContainer } from 'tsyringe';
import { Committer } from '../actor/committer.ts';
import { RunActors } from '../actor/run-actors.ts';
import { CommandConsumer } from '../bus/command-consumer.ts';
import { EventRelay } from '../bus/event-relay.ts';
import { LiveChanges } from '../bus/live-changes.ts';
import { NodeBus } from '../bus/node-bus.ts';
import { RunOwners } from '../bus/run-owners.ts';
import { ClaimRuns } from '../claim/claim-runs.ts';
import { ClaimsAtOnce } from '../claim/claims-at-once.ts';
import type { Config } from '../config.ts';
import { NodeRoutes } from '../peer/node-routes.ts';
import { PeerRouter } from '../peer/peer-router.ts';
import { ClaimWaiters } from '../queue/claim-waiters.ts';
import { InterestNews } from '../queue/interest-news.ts';
import { QueueInterests } from '../queue/queue-interests.ts';
import { ReadyRuns } from '../queue/ready-runs.ts';
import { FolderSweep } from '../retention/folder-sweep.ts';
import { RetentionSweep } from '../retention/retention-sweep.ts';
import { InputFiles } from '../rpc/input-files.ts';
import { OrganizationFollowers } from '../rpc/organization-followers.ts';
import { RegistryClient } from '../rpc/registry-client.ts';
import { RunSchedulerRpc } from '../rpc/run-scheduler-service.ts';
import { RunWatchers } from '../rpc/run-watchers.ts';
import { StartRuns } from '../rpc/start-run.ts';
import { Membership } from '../shard/membership.ts';
import { ShardOwner } from '../shard/shard-owner.ts';
import { DatabaseClock } from '../store/database-clock.ts';
import { FileStore } from '../store/file-store.ts';
import { PostgresOutbox } from '../store/outbox.ts';
import { pageSettings, writerSettings } from '../store/planner-settings.ts';
import { PostgresRunStore } from '../store/postgres-run-store.ts';
import { RetiredIndex } from '../store/retired-index.ts';
import { RunFolderStore } from '../store/run-folder-store.ts';
import { RunLists } from '../store/run-lists.ts';
import { ClockLook } from '../timer/clock-look.ts';
import { DueQuestions } from '../timer/due-questions.ts';
import { PeerLinks } from '../wire/peer-links.ts';
import { FormThreads } from '../worker-stream/form-threads.ts';
import { GrantDesk } from '../worker-stream/grant-desk.ts';
import { HeartbeatSender } from '../worker-stream/heartbeat-sender.ts';
import { HeldGrants } from '../worker-stream/held-grants.ts';
import { HelloPace } from '../worker-stream/hello-pace.ts';
import { LeaseKeeper } from '../worker-stream/lease-keeper.ts';
import { OwnerLink } from '../worker-stream/owner-link.ts';
import { QuestionForms } from '../worker-stream/question-forms.ts';
import { TakeOver } from '../worker-stream/take-over.ts';
import { WorkerReports } from '../worker-stream/worker-reports.ts';
import { newNodeId, WorkerSessions } from '../worker-stream/worker-sessions.ts';

/** The workers' endpoint, apart from the one of gateways and peers. */
export class WorkerServer extends RpcServer {}

type Part<T> = InjectionToken<T> & (new (...args: never[]) => T);

const STATEMENT_TIMEOUT_MS = 4_000;

/**
 * Each part under its name, made when it is first asked for; where two know each other, one resolves the other late.
 */
export function nodeParts(config: Config, logger: Logger, clock: Clock) {
  const nodeId = newNodeId();
  const { shardCount } = config;
  const log = logger.child({ node: nodeId });
  const container = rootContainer.createChildContainer();
  const provide = <T>(token: Part<T>, make: () => T) => {
    container.register(token, { useFactory: instanceCachingFactory(make) });
  };
  const get =
    <T>(token: Part<T>) =>
    (): T =>
      container.resolve(token);
  const pool = (max: number, settings: Readonly<Record<string, string>> = {}): Sql =>
    openPool({
      url: config.postgresUrl.reveal(),
      applicationName: nodeId,
      max,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      settings,
    });
  const shards = get(ShardOwner);
  const peers = get(PeerLinks);
  const waiters = get(ClaimWaiters);
  const server = get(RpcServer);
  const databaseClock = get(DatabaseClock);
  return {
    config,
    clock,
    nodeId,
    shardCount,
    log,
    provide,
    /**
     * Two connections write runs, one batch each. Shards and beats must not wait behind anything else, and nothing behind
     * the files of runs. Old runs go one statement at a time. A backlog of events must not take the readers' connections.
     */
    pools: {
      writer: pool(2, writerSettings),
      shards: pool(3),
      beats: pool(2),
      folders: pool(4, pageSettings),
      files: pool(2, pageSettings),
      retention: pool(1, writerSettings),
      outbox: pool(2, pageSettings),
    },
    state: { draining: false },
    owns: (shard: number) => shards().owns(shard),
    owned: () => shards().owned(),
    ownsRun: (runId: RunId) => shards().owns(shardOfRunId(runId, shardCount) ?? -1),
    epochOf: (shard: number) => shards().epochOf(shard),
    databaseNowMs: () => databaseClock().nowMs(),
    peerAddress: () => config.peerAddress ?? `${hostOf(config.listen)}:${server().port}`,
    shards,
    peers,
    waiters,
    server,
    databaseClock,
    clockLook: get(ClockLook),
    database: get(ServiceDatabase),
    store: get(PostgresRunStore),
    outbox: get(PostgresOutbox),
    /** For every read of one organization's rows: lists, not the look-ups by id that many organizations share. */
    organizationReader: get(OrganizationReader),
    lists: get(RunLists),
    folders: get(RunFolderStore),
    files: get(FileStore),
    inputFiles: get(InputFiles),
    folderSweep: get(FolderSweep),
    retiredIndex: get(RetiredIndex),
    retention: get(RetentionSweep),
    registry: get(RegistryClient),
    bus: get(Bus),
    membership: get(Membership),
    committer: get(Committer),
    actors: get(RunActors),
    routes: get(NodeRoutes),
    interests: get(QueueInterests),
    news: get(InterestNews),
    ready: get(ReadyRuns),
    keeper: get(LeaseKeeper),
    grants: get(GrantDesk),
    claims: get(ClaimRuns),
    claimsAtOnce: get(ClaimsAtOnce),
    reports: get(WorkerReports),
    formThreads: get(FormThreads),
    forms: get(QuestionForms),
    valueThreads: get(ValueThreads),
    held: get(HeldGrants),
    helloPace: get(HelloPace),
    ownerLink: get(OwnerLink),
    sessions: get(WorkerSessions),
    heartbeats: get(HeartbeatSender),
    takeOver: get(TakeOver),
    due: get(DueQuestions),
    relay: get(EventRelay),
    watchers: get(RunWatchers),
    live: get(LiveChanges),
    followers: get(OrganizationFollowers),
    commands: get(CommandConsumer),
    nodeBus: get(NodeBus),
    owners: get(RunOwners),
    starts: get(StartRuns),
    gatewayRpc: get(RunSchedulerRpc),
    router: get(PeerRouter),
    workerServer: get(WorkerServer),
  };
}

export type NodeParts = ReturnType<typeof nodeParts>;

function hostOf(listen: string): string {
  return listen.slice(0, listen.lastIndexOf(':'));
}
