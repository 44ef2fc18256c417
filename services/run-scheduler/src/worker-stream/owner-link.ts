// The path from a worker's node to the owner of a run: a direct call if this node owns it, else the peer stream.
import type { Clock } from '@methods/base/clock';
import { type OrgId, type RunId, shardOfRunId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import type { PeerItem } from '@methods/proto/peer/v1/peer_service_pb';
import type { PeerItemInit, PeerSender } from '../wire/peer-link.ts';
import type { HeldGrant } from './held-grants.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import type { ReportItem, ReportOutcome, WorkerReports } from './worker-reports.ts';

export interface WorkerOrigin {
  readonly session: string;
  readonly orgId: OrgId;
}

const REPORT_MS = 10_000;
const AGAIN_MS = 100;
/** After this time the worker's own repeat arrives. */
const AGAIN_FOR_MS = 3_000;
/** Bytes of reports without an outcome: while the database stalls, a worker may send as fast as its connection. */
const REPORTS = { placesMax: 256 << 20, perOrganizationMax: 64 << 20 };

export class OwnerLink {
  private readonly bytes = new Shares(REPORTS);

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
   * every run would be delayed by that time whenever a node starts or stops. Beyond the organization's share a report
   * is dropped, and the worker repeats it.
   */
  report(from: WorkerOrigin, item: ReportItem, done: (outcome: ReportOutcome) => void): void {
    if (item.case === 'accepted') return this.accepted(from, item);
    const place = this.bytes.take(from.orgId, '', bytesOf(item.value));
    if (!place.ok) return;
    const untilMs = this.options.clock.monotonicMs() + AGAIN_FOR_MS;
    const settled = (outcome: ReportOutcome | null) => {
      if (outcome === null && this.options.clock.monotonicMs() < untilMs) {
        this.options.clock.after(AGAIN_MS, () => this.send(from, item, settled));
        return;
      }
      place.leave();
      if (outcome !== null) done(outcome);
    };
    this.send(from, item, settled);
  }

  private accepted(from: WorkerOrigin, item: ReportItem): void {
    const owner = this.ownerOf(item.value.runId);
    if (owner === this.options.nodeId) void this.options.reports.handle({ nodeId: owner, ...from }, item);
    else if (owner !== null) this.options.peers.send(owner, peerReport(from, item));
  }

  private send(from: WorkerOrigin, item: ReportItem, settled: (outcome: ReportOutcome | null) => void): void {
    const owner = this.ownerOf(item.value.runId);
    if (owner === null) return settled(null);
    if (owner === this.options.nodeId) {
      void this.options.reports.handle({ nodeId: owner, ...from }, item).then(settled);
      return;
    }
    this.options.peers.request(owner, peerReport(from, item), REPORT_MS).then(
      (reply) => settled(outcomeOf(reply)),
      () => settled(null),
    );
  }

  /** A worker connected: every owner compares the runs that it holds with those granted. */
  workerSeen(seen: WorkerOrigin & { readonly held: readonly { runId: RunId; token: string }[] }): void {
    this.options.keeper.workerSeen(this.options.nodeId, seen);
    const value = { workerSession: seen.session, orgId: seen.orgId, held: seen.held.map((h) => ({ ...h })) };
    for (const nodeId of this.options.peers.connected()) {
      this.options.peers.send(nodeId, { item: { case: 'workerSeen', value } });
    }
  }

  /** Sends a heartbeat of a run whose cancel is requested, since its owner must be notified at once. */
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

function peerReport({ session, orgId }: WorkerOrigin, item: ReportItem): PeerItemInit {
  return { item: { case: 'report', value: { workerSession: session, orgId, item: { item } } } };
}

/** An upper bound of the memory of fields that are numbers and short ids. */
const FIELDS_BYTES = 500;

/** Of the texts of a report, in it and in what it contains. */
function bytesOf(message: object): number {
  let bytes = FIELDS_BYTES;
  for (const name in message) {
    const value = (message as Record<string, unknown>)[name];
    if (typeof value === 'string') bytes += value.length;
    else if (typeof value === 'object' && value !== null) bytes += bytesOf(value);
  }
  return bytes;
}

function outcomeOf(reply: PeerItem): ReportOutcome | null {
  if (reply.item.case !== 'reportReply') return null;
  const { outcome } = reply.item.value;
  if (outcome.case === undefined) return null;
  return outcome as ReportOutcome;
}
