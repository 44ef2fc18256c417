// Queues, workers, grants and leases.

import { ClaimRuns } from '../claim/claim-runs.ts';
import { ClaimsAtOnce } from '../claim/claims-at-once.ts';
import { NodeRoutes } from '../peer/node-routes.ts';
import { ClaimWaiters } from '../queue/claim-waiters.ts';
import { InterestNews } from '../queue/interest-news.ts';
import { QueueInterests } from '../queue/queue-interests.ts';
import { ReadyRuns } from '../queue/ready-runs.ts';
import { FormThreads } from '../worker-stream/form-threads.ts';
import { GrantDesk } from '../worker-stream/grant-desk.ts';
import { HeartbeatSender } from '../worker-stream/heartbeat-sender.ts';
import { HeldGrants } from '../worker-stream/held-grants.ts';
import { HelloPace } from '../worker-stream/hello-pace.ts';
import { LeaseKeeper } from '../worker-stream/lease-keeper.ts';
import { OwnerLink } from '../worker-stream/owner-link.ts';
import { QuestionForms } from '../worker-stream/question-forms.ts';
import { TakeOver } from '../worker-stream/take-over.ts';
import { WorkerAdmission } from '../worker-stream/worker-admission.ts';
import { WorkerReports } from '../worker-stream/worker-reports.ts';
import { WorkerSessions } from '../worker-stream/worker-sessions.ts';
import type { NodeParts } from './node-parts.ts';

export function provideWorkers(parts: NodeParts): void {
  const {
    provide,
    config,
    nodeId,
    clock,
    log,
    shardCount,
    owned,
    ownsRun,
    epochOf,
    store,
    membership,
    peers,
    shards,
    actors,
    routes,
    interests,
    news,
    helloPace,
    registry,
    ready,
    waiters,
    keeper,
    grants,
    claims,
    reports,
    forms,
    formThreads,
    held,
    ownerLink,
    sessions,
    nodeBus,
  } = parts;
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
        interestChanged: (change) => news().changed(change),
      }),
  );
  provide(
    InterestNews,
    () =>
      new InterestNews({
        clock,
        interest: () => waiters().interest(),
        changedHere: (change) => interests().changed(nodeId, change),
        peers: () => peers().connected(),
        send: (peer, part) => peers().send(peer, { item: { case: 'interest', value: part } }),
      }),
  );
  provide(
    ClaimsAtOnce,
    () => new ClaimsAtOnce({ nodeId, actors: actors(), ready: ready(), waiters: waiters(), grants: grants() }),
  );
  provide(HelloPace, () => new HelloPace(clock));
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
        returnGrant: (runId, token) => keeper().returnGrant(runId, token),
        tooLarge: (runId, token) => keeper().endTooLarge(runId, token),
        epochOf,
        deliver: (grant) => routes().deliverGrant(grant),
        logger: log.child({ part: 'grants' }),
      }),
  );
  provide(ClaimRuns, () => new ClaimRuns({ ready: ready(), actors: actors(), grants: grants(), clock }));
  provide(FormThreads, () => new FormThreads());
  provide(
    QuestionForms,
    () =>
      new QuestionForms({
        versionOf: (orgId, method, versionId) => registry().savedVersion(orgId, method, versionId),
        derive: (orgId, source, path) => formThreads().derive(orgId, source, path),
        noted: ({ facts }, path) => store().outOfStep(facts.orgId, facts.runId, path),
        clock,
      }),
  );
  provide(WorkerReports, () => new WorkerReports({ actors: actors(), leases: keeper().leases, forms: forms() }));
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
        clock,
      }),
  );
  provide(
    WorkerSessions,
    () =>
      new WorkerSessions({
        nodeId,
        clock,
        heartbeatMs: config.heartbeatMs,
        leaseMs: config.workerLeaseMs,
        shardCount,
        waiters: waiters(),
        admission: new WorkerAdmission({ pace: helloPace(), methods: registry().methods, waiters: waiters() }),
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
        epochOf,
        isClaiming: (token) => grants().expects(token),
        clock,
        logger: log.child({ part: 'take-over' }),
      }),
  );
}
