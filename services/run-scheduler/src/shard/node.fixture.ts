// A node of a test cluster: all parts that decide who owns which shard, with its own server, pool, bus and a clock that
// can be stopped. Several live in one process.
import { type Clock, systemClock } from '@methods/base/clock';
import { Bus } from '@methods/bus/connection';
import { silentLogger } from '@methods/logging/logger';
import { openPool } from '@methods/postgres/pool';
import { PeerService } from '@methods/proto/peer/v1/peer_service_pb';
import { RpcServer, served } from '@methods/rpc/server';
import { PeerLinks } from '../wire/peer-links.ts';
import { Membership } from './membership.ts';
import { ShardLease } from './shard-lease.ts';
import { ShardOwner } from './shard-owner.ts';

/** Timers that come due while it is frozen run when it continues, as after SIGSTOP and SIGCONT. */
class StoppableClock implements Clock {
  private held: (() => void)[] | null = null;
  private pace = 1;
  private slowedAtMs = 0;

  wallMs(): number {
    return systemClock.wallMs();
  }

  monotonicMs(): number {
    const nowMs = systemClock.monotonicMs();
    return this.pace === 1 ? nowMs : this.slowedAtMs + (nowMs - this.slowedAtMs) / this.pace;
  }

  /** From now on a second takes `pace` seconds, so that no decision of this time is made by waiting. */
  slowDown(pace: number): void {
    this.pace = pace;
    this.slowedAtMs = systemClock.monotonicMs();
  }

  after(delayMs: number, run: () => void) {
    let cancelled = false;
    const due = () => {
      if (cancelled) return;
      if (this.held) this.held.push(due);
      else run();
    };
    const timer = systemClock.after(delayMs * this.pace, due);
    return {
      cancel() {
        cancelled = true;
        timer.cancel();
      },
    };
  }

  freeze(): void {
    this.held ??= [];
  }

  thaw(): void {
    const held = this.held ?? [];
    this.held = null;
    for (const run of held) run();
  }
}

export const SHARDS = 256;

export class TestNode {
  readonly nodeId: string;
  readonly clock = new StoppableClock();
  readonly server: RpcServer;
  readonly links: PeerLinks;
  readonly membership: Membership;
  readonly owner: ShardOwner;
  readonly lease: ShardLease;
  /** `shard/epoch` of every lease this node was ever given. */
  readonly taken: string[] = [];
  readonly lost: number[] = [];
  readonly released: number[] = [];
  private readonly bus: Bus;
  private readonly sql;
  private ended = false;

  constructor(postgresUrl: string, natsUrl: string, nodeId: string, port = 0) {
    const logger = silentLogger;
    const { clock } = this;
    this.nodeId = nodeId;
    this.bus = new Bus({ url: natsUrl, name: nodeId, logger });
    this.sql = openPool({ url: postgresUrl, applicationName: nodeId, max: 4, statementTimeoutMs: 2_000 });
    const peerAddress = () => `127.0.0.1:${this.server.port}`;
    const bus = this.bus;
    const sql = this.sql;
    this.membership = new Membership({ nodeId, peerAddress, bus, sql, clock, logger });
    this.links = new PeerLinks({ nodeId, peerAddress, membership: this.membership, clock, logger });
    this.lease = new ShardLease({ sql, nodeId });
    this.owner = new ShardOwner({
      nodeId,
      shardCount: SHARDS,
      membership: this.membership,
      lease: this.lease,
      peers: this.links,
      clock,
      logger,
    });
    this.owner.onTaken((shards) => {
      for (const { shard, epoch } of shards) this.taken.push(`${shard}/${epoch}`);
    });
    this.owner.onLost((shards) => void this.lost.push(...shards));
    this.owner.onReleasing(async (shards) => void this.released.push(...shards));
    this.server = new RpcServer({
      listen: `127.0.0.1:${port}`,
      services: [served(PeerService, this.links.serve)],
      logger,
      graceMs: 0,
    });
  }

  async start(): Promise<this> {
    this.bus.start();
    await this.server.start();
    await this.membership.start();
    this.links.start();
    await this.owner.start();
    return this;
  }

  async stop(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    await this.owner.stop();
    await this.end();
  }

  /** Like SIGKILL: nothing is released, no node is notified, and it no longer listens. */
  async kill(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    this.clock.freeze();
    await this.end();
  }

  /** Cuts off only this node; the connections of the others stay. */
  async cutOffFromPostgres(): Promise<void> {
    await this.sql.end({ timeout: 0 });
  }

  private async end(): Promise<void> {
    this.membership.stop();
    const stopped = this.server.stop();
    this.links.stop();
    await Promise.all([stopped, this.sql.end({ timeout: 0 }), this.bus.stop()]);
  }
}
