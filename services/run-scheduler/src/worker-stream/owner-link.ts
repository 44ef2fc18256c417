// The path from a worker's node to the owner of a run: a direct call here, the peer stream elsewhere.
import type { Clock } from '@methods/base/clock';
import { type OrgId, type RunId, shardOfRunId } from '@methods/base/ids';
import type { PeerItem } from '@methods/proto/peer/v1/peer_service_pb';
import type { PeerSender } from '../wire/peer-link.ts';
import type { HeldGrant } from './held-grants.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { ReportItem, ReportOutcome, WorkerReports } from './worker-reports.ts';

export interface WorkerOrigin {
  readonly session: string;
  readonly orgId: OrgId;
}

const REPORT_MS = 10_000;
const AGAIN_MS = 100;
/** Then the worker's own repeat arrives. */
const AGAIN_FOR_MS = 3_000;

export class OwnerLink {
  constructor(
    private readonly options: {
      readonly nodeId: string;
      readonly shardCount: number;
      readonly shards: { owns(shard: number): boolean; ownerOf(shard: number): string | null };
      readonly peers: PeerSender;
      readonly reports: WorkerReports;
      readonly keeper: LeaseKeeper;
      readonly clock: Clock;
    },
  ) {}

  /**
   * While the shard moves or its owner is lost, repeats the report for as long as the worker itself does not: otherwise
   * every run would be delayed by that time whenever a node starts or stops.
   */
  report(
    from: WorkerOrigin,
    item: ReportItem,
    done: (outcome: ReportOutcome) => void,
    untilMs = this.options.clock.monotonicMs() + AGAIN_FOR_MS,
  ): void {
    const settled = (outcome: ReportOutcome | null) => {
      if (outcome !== null) done(outcome);
      else if (item.case !== 'accepted' && this.options.clock.monotonicMs() < untilMs) {
        this.options.clock.after(AGAIN_MS, () => this.report(from, item, done, untilMs));
      }
    };
    const owner = this.ownerOf(item.value.runId);
    if (owner === null) return settled(null);
    if (owner === this.options.nodeId) {
      void this.options.reports.handle({ nodeId: owner, ...from }, item).then(settled);
      return;
    }
    const report = { workerSession: from.session, orgId: from.orgId, item: { item } };
    if (item.case === 'accepted') {
      this.options.peers.send(owner, { item: { case: 'report', value: report } });
      return;
    }
    this.options.peers.request(owner, { item: { case: 'report', value: report } }, REPORT_MS).then(
      (reply) => settled(outcomeOf(reply)),
      () => settled(null),
    );
  }

  /** A worker connected: every owner compares the runs it holds with those granted. */
  workerSeen(seen: WorkerOrigin & { readonly held: readonly { runId: RunId; token: string }[] }): void {
    this.options.keeper.workerSeen(this.options.nodeId, seen);
    const value = { workerSession: seen.session, orgId: seen.orgId, held: seen.held.map((h) => ({ ...h })) };
    for (const nodeId of this.options.peers.connected()) {
      this.options.peers.send(nodeId, { item: { case: 'workerSeen', value } });
    }
  }

  /** For a run whose cancel is requested: the owner must be notified at once. */
  heartbeatNow(held: HeldGrant): void {
    const owner = this.ownerOf(held.runId);
    if (owner === null) return;
    const run = { runId: held.runId, token: held.token, ageMs: 0 };
    if (owner === this.options.nodeId) this.options.keeper.heartbeats(owner, [run]);
    else {
      const value = { fromNode: this.options.nodeId, runs: [run] };
      this.options.peers.send(owner, { item: { case: 'heartbeats', value } });
    }
  }

  grantLost(nodeId: string, runId: RunId, token: string): void {
    this.options.peers.send(nodeId, { item: { case: 'grantLost', value: { runId, token } } });
  }

  private ownerOf(runId: RunId): string | null {
    const shard = shardOfRunId(runId, this.options.shardCount);
    if (shard === null) return null;
    return this.options.shards.owns(shard) ? this.options.nodeId : this.options.shards.ownerOf(shard);
  }
}

function outcomeOf(reply: PeerItem): ReportOutcome | null {
  if (reply.item.case !== 'reportReply') return null;
  const { outcome } = reply.item.value;
  if (outcome.case === undefined) return null;
  return outcome as ReportOutcome;
}
