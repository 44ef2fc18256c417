// The way from a worker's node to the owner of a run: a direct call here, the peer stream elsewhere.

import { shardOfRunId } from '@methods/base/ids';
import type { PeerItem } from '@methods/proto/peer/v1/peer_service_pb';
import type { PeerSender } from '../peer/peer-sender.ts';
import type { HeldGrant } from './held-grants.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { ReportItem, ReportOutcome, WorkerReports } from './worker-reports.ts';

export interface WorkerOrigin {
  readonly session: string;
  readonly orgId: string;
}

const REPORT_MS = 10_000;

export class OwnerLink {
  constructor(
    private readonly options: {
      readonly nodeId: string;
      readonly shardCount: number;
      readonly shards: { owns(shard: number): boolean; ownerOf(shard: number): string | null };
      readonly peers: PeerSender;
      readonly reports: WorkerReports;
      readonly keeper: LeaseKeeper;
    },
  ) {}

  /** No outcome within its time means the worker repeats the report. */
  report(from: WorkerOrigin, item: ReportItem, done: (outcome: ReportOutcome) => void): void {
    const owner = this.ownerOf(item.value.runId);
    if (owner === null) return;
    if (owner === this.options.nodeId) {
      void this.options.reports.handle({ nodeId: owner, ...from }, item).then((outcome) => outcome && done(outcome));
      return;
    }
    const report = { workerSession: from.session, orgId: from.orgId, item: { item } };
    if (item.case === 'accepted') {
      this.options.peers.send(owner, { item: { case: 'report', value: report } });
      return;
    }
    this.options.peers.request(owner, { item: { case: 'report', value: report } }, REPORT_MS).then(
      (reply) => {
        const outcome = outcomeOf(reply);
        if (outcome !== null) done(outcome);
      },
      () => {},
    );
  }

  /** A worker came (back): every owner compares what it holds with what was granted. */
  workerSeen(seen: WorkerOrigin & { readonly held: readonly { runId: string; token: string }[] }): void {
    this.options.keeper.workerSeen(this.options.nodeId, seen);
    const value = { workerSession: seen.session, orgId: seen.orgId, held: seen.held.map((h) => ({ ...h })) };
    for (const nodeId of this.options.peers.connected()) {
      this.options.peers.send(nodeId, { item: { case: 'workerSeen', value } });
    }
  }

  /** For a run its owner wants cancelled: the owner must hear at once. */
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

  grantLost(nodeId: string, runId: string, token: string): void {
    this.options.peers.send(nodeId, { item: { case: 'grantLost', value: { runId, token } } });
  }

  private ownerOf(runId: string): string | null {
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
