// Passes peers' messages to their parts.
import { toErrorDetail } from '@methods/errors/error-detail';
import type { PeerItem } from '@methods/proto/peer/v1/peer_service_pb';
import { inject, injectable } from 'tsyringe';
import { CommandConsumer } from '../bus/command-consumer.ts';
import { ClaimRuns } from '../claim/claim-runs.ts';
import { ClaimWaiters } from '../queue/claim-waiters.ts';
import { QueueInterests } from '../queue/queue-interests.ts';
import { StartRuns } from '../rpc/start-run.ts';
import type { PeerItemInit, PeerSender } from '../wire/peer-link.ts';
import { PeerLinks } from '../wire/peer-links.ts';
import { runView } from '../wire/run-message.ts';
import { LeaseKeeper } from '../worker-stream/lease-keeper.ts';
import { LeaseRecovery } from '../worker-stream/lease-recovery.ts';
import { OwnerLink } from '../worker-stream/owner-link.ts';
import { isReport, WorkerReports } from '../worker-stream/worker-reports.ts';
import { WorkerSessions } from '../worker-stream/worker-sessions.ts';

type Reply = (item: PeerItemInit) => void;

@injectable()
export class PeerRouter {
  constructor(
    @inject(CommandConsumer) private readonly commands: CommandConsumer,
    @inject(QueueInterests) private readonly interests: QueueInterests,
    @inject(ClaimWaiters) private readonly waiters: ClaimWaiters,
    @inject(ClaimRuns) private readonly claims: ClaimRuns,
    @inject(LeaseKeeper) private readonly keeper: LeaseKeeper,
    @inject(OwnerLink) private readonly owners: OwnerLink,
    @inject(WorkerReports) private readonly reports: WorkerReports,
    @inject(WorkerSessions) private readonly sessions: WorkerSessions,
    @inject(StartRuns) private readonly starts: StartRuns,
    @inject(LeaseRecovery) private readonly recovery: LeaseRecovery,
    @inject(PeerLinks) private readonly peers: PeerSender,
  ) {}

  received(from: string, { item }: PeerItem, reply: Reply): void {
    const { interests, waiters, keeper, owners, sessions, recovery } = this;
    switch (item.case) {
      case 'interest':
        return interests.peerAsks(from, item.value.queues, item.value);
      case 'queueHead': {
        const { orgId, method, depth, queuedAtMs, runId } = item.value;
        return waiters.headChanged(
          from,
          { orgId, method },
          depth === 0 || runId === '' ? null : { depth, queuedAtMs, runId },
        );
      }
      case 'claim':
        return void this.claim(from, item.value);
      case 'claimReturned':
        return waiters.emptyHanded(item.value.creditId);
      case 'grant': {
        const { grant, shard, creditId, workerSession } = item.value;
        if (grant === undefined) return;
        const delivered = { nodeId: from, creditId, workerSession, shard, orgId: grant.orgId, grant };
        if (!sessions.deliver(delivered, grant.epoch)) owners.grantLost(from, grant.runId, grant.token);
        return;
      }
      case 'grantLost':
        return keeper.returnGrant(item.value.runId, item.value.token);
      case 'report':
        return void this.report(from, item.value, reply);
      case 'reportReply':
        if (item.value.outcome.case === 'refused') {
          sessions.refuse(item.value.outcome.value.token, item.value.outcome.value);
        }
        return;
      case 'cancelNotice':
        return sessions.cancelNotice(item.value.workerSession, item.value.runId, item.value.token);
      case 'command':
        return void this.commands.decide(item.value).then((decided) => {
          if (decided !== null) reply({ item: { case: 'commandReply', value: decided } });
        });
      case 'heldRequest': {
        const { grants, workerSessions } = recovery.heldHere(item.value.shards);
        const value = { grants: [...grants], workerSessions: [...workerSessions] };
        return reply({ item: { case: 'heldReply', value } });
      }
      case 'start':
        return void this.start(item.value, reply);
      case 'heartbeats':
        return keeper.heartbeats(from, item.value.runs);
      case 'workerSeen': {
        const { workerSession, held } = item.value;
        return keeper.workerSeen(from, { session: workerSession, held });
      }
      default:
        return;
    }
  }

  private async claim(from: string, offer: Extract<PeerItem['item'], { case: 'claim' }>['value']): Promise<void> {
    const { orgId, method, workerSession, creditId, features } = offer;
    const key = { orgId, method };
    const claimed = await this.claims.claim(from, { key, workerSession, creditId, features });
    if (!claimed) this.peers.send(from, { item: { case: 'claimReturned', value: { creditId } } });
  }

  private async report(
    from: string,
    report: Extract<PeerItem['item'], { case: 'report' }>['value'],
    reply: Reply,
  ): Promise<void> {
    const item = report.item?.item;
    if (item === undefined || !isReport(item)) return;
    const origin = { nodeId: from, session: report.workerSession, orgId: report.orgId };
    const outcome = await this.reports.handle(origin, item);
    // The sender gets a reply even without an outcome, so that it looks for the owner again at once.
    reply({ item: { case: 'reportReply', value: outcome === null ? {} : { outcome } } });
  }

  /** Handles a start from a gateway whose node owns no shards. */
  private async start(forward: Extract<PeerItem['item'], { case: 'start' }>['value'], reply: Reply): Promise<void> {
    if (forward.start === undefined) return;
    const untilMs = forward.deadlineMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + forward.deadlineMs;
    const wanted = () => performance.now() < untilMs;
    try {
      const { run, replayed } = await this.starts.start(forward.start, () => {}, wanted);
      const value = { outcome: { case: 'run' as const, value: { run: runView(run), replayed } } };
      reply({ item: { case: 'startReply', value } });
    } catch (error) {
      const value = { outcome: { case: 'error' as const, value: toErrorDetail(error) } };
      reply({ item: { case: 'startReply', value } });
    }
  }
}
