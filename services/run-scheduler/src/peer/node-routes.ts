// Sends messages to a node: a direct call if it is this one, else an item on the peer stream. Its counterpart is
// peer-router.ts, which receives the same messages from peers.

import { create, toBinary } from '@bufbuild/protobuf';
import type { Clock } from '@methods/base/clock';
import type { RunId } from '@methods/base/ids';
import { HeldHeartbeatsSchema } from '@methods/proto/event/v1/event_pb';
import type { ClaimRuns } from '../claim/claim-runs.ts';
import type { ClaimOffer, ClaimWaiters } from '../queue/claim-waiters.ts';
import type { QueueHead } from '../queue/ready-runs.ts';
import type { QueueKey } from '../store/run-store.ts';
import type { PeerSender } from '../wire/peer-link.ts';
import type { DeliveredGrant } from '../worker-stream/grant-desk.ts';
import type { HeartbeatRun } from '../worker-stream/heartbeat-sender.ts';
import type { LeaseKeeper } from '../worker-stream/lease-keeper.ts';
import type { WorkerSessions } from '../worker-stream/worker-sessions.ts';

/** This node's own parts, which are made later. */
export interface LocalParts {
  readonly waiters: ClaimWaiters;
  readonly claims: ClaimRuns;
  readonly keeper: LeaseKeeper;
  readonly sessions: WorkerSessions;
}

export interface NodeRoutesOptions {
  readonly nodeId: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly peers: PeerSender;
  readonly local: () => LocalParts;
  readonly epochOf: (shard: number) => number | null;
  /** Sends heartbeats over the bus; false when it is not known to have taken them. Never rejects. */
  readonly publishHeartbeats: (nodeId: string, body: Uint8Array) => Promise<boolean>;
}

export class NodeRoutes {
  constructor(private readonly options: NodeRoutesOptions) {}

  tellHead(nodeId: string, key: QueueKey, head: QueueHead | null): void {
    if (this.isHere(nodeId)) return this.options.local().waiters.headChanged(nodeId, key, head);
    const { depth, queuedAtMs, runId } = head ?? { depth: 0, queuedAtMs: 0, runId: '' as const };
    const value = { ...key, depth, queuedAtMs, runId };
    this.options.peers.send(nodeId, { item: { case: 'queueHead', value } });
  }

  offerClaim(nodeId: string, offer: ClaimOffer): boolean {
    if (this.isHere(nodeId)) {
      const { claims, waiters } = this.options.local();
      claims.claim(nodeId, offer).then(
        (claimed) => claimed || waiters.emptyHanded(offer.creditId),
        () => waiters.returned(offer.creditId),
      );
      return true;
    }
    const { key, workerSession, creditId, features } = offer;
    const value = { ...key, workerSession, creditId, features: [...features] };
    return this.options.peers.send(nodeId, { item: { case: 'claim', value } });
  }

  /** Returns false if the grant reaches no worker. */
  deliverGrant(delivered: DeliveredGrant): boolean {
    const { nodeId, creditId, workerSession, shard, grant } = delivered;
    if (this.isHere(nodeId)) {
      return this.options.local().sessions.deliver(delivered, this.options.epochOf(shard) ?? 0);
    }
    const value = { creditId, workerSession, shard, grant };
    return this.options.peers.send(nodeId, { item: { case: 'grant', value } });
  }

  /** Returns false if the node is not known to receive them. */
  async heartbeats(nodeId: string, runs: readonly HeartbeatRun[]): Promise<boolean> {
    if (this.isHere(nodeId)) {
      this.options.local().keeper.heartbeats(nodeId, runs);
      return true;
    }
    const value = { fromNode: this.options.nodeId, runs: runs.map((run) => ({ ...run })) };
    const body = toBinary(HeldHeartbeatsSchema, create(HeldHeartbeatsSchema, value));
    const saidAtMs = this.options.clock.monotonicMs();
    if (await this.options.publishHeartbeats(nodeId, body)) return true;
    const waitedMs = Math.round(this.options.clock.monotonicMs() - saidAtMs);
    const older = { ...value, runs: runs.map((run) => ({ ...run, ageMs: run.ageMs + waitedMs })) };
    return this.options.peers.send(nodeId, { item: { case: 'heartbeats', value: older } });
  }

  cancelNotice(nodeId: string, notice: { workerSession: string; runId: RunId; token: string }): void {
    if (this.isHere(nodeId)) {
      this.options.local().sessions.cancelNotice(notice.workerSession, notice.runId, notice.token);
    } else {
      this.options.peers.send(nodeId, { item: { case: 'cancelNotice', value: notice } });
    }
  }

  /** Notifies a worker, through its node, that its attempt is over. */
  refuse(nodeId: string, runId: RunId, token: string): void {
    const message = 'Another attempt holds this run, or it has ended.';
    const refused = { runId, seq: 0, code: 'stale_attempt', message, token };
    if (this.isHere(nodeId)) return this.options.local().sessions.refuse(token, refused);
    const value = { outcome: { case: 'refused' as const, value: refused } };
    this.options.peers.send(nodeId, { item: { case: 'reportReply', value } });
  }

  private isHere(nodeId: string): boolean {
    return nodeId === this.options.nodeId;
  }
}
