// Node beats, in the bus's bucket of nodes and as rows. The bucket is the fast source, and may be empty, stale or
// unavailable at any time.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { NodesBucket } from '@methods/bus/nodes-bucket';
import type { Logger } from '@methods/logging/logger';
import { withDeadline } from '@methods/postgres/deadline';
import type { Sql } from '@methods/postgres/pool';
import { NodeBeatSchema } from '@methods/proto/event/v1/event_pb';
import type { NodeBeat } from './beat-watch.ts';

/** The part of the bus that membership uses. */
export interface BeatBus {
  readonly nodes: Pick<NodesBucket, 'put' | 'watch'>;
  /** Called at each connect, once the bucket exists. */
  onConnected(listener: () => void): () => void;
}

export class BucketBeats {
  private putRunning = false;
  private watching: { unsubscribe(): void } | null = null;
  private unsubscribe: (() => void) | null = null;
  private latest: NodeBeat | null = null;

  constructor(
    private readonly bus: BeatBus,
    private readonly logger: Logger,
  ) {}

  start(onBeat: (beat: NodeBeat) => void): void {
    this.watching = this.bus.nodes.watch((entries) => {
      for (const { nodeId, data } of entries) {
        const beat = data && this.decode(nodeId, data);
        if (beat) onBeat(beat);
      }
    });
    // Announces a joining node at once, not with its next beat.
    this.unsubscribe = this.bus.onConnected(() => {
      if (this.latest) this.putIfIdle(this.latest);
    });
  }

  stop(): void {
    this.watching?.unsubscribe();
    this.watching = null;
    this.unsubscribe?.();
  }

  async put(beat: NodeBeat): Promise<void> {
    this.latest = beat;
    await this.bus.nodes.put(beat.nodeId, toBinary(NodeBeatSchema, create(NodeBeatSchema, beat)));
  }

  /** Skips this beat while an earlier one is still in flight; the next beat has the same content. Never rejects. */
  putIfIdle(beat: NodeBeat): void {
    this.latest = beat;
    if (this.putRunning) return;
    this.putRunning = true;
    this.put(beat)
      .catch((error: unknown) => this.logger.debug({ error }, 'beat not put into the bucket'))
      .finally(() => {
        this.putRunning = false;
      });
  }

  private decode(nodeId: string, value: Uint8Array): NodeBeat | null {
    try {
      const { beat, leaving, peerAddress } = fromBinary(NodeBeatSchema, value);
      return Number.isSafeInteger(beat) ? { nodeId, peerAddress, beat, leaving } : null;
    } catch (error) {
      this.logger.warn({ error, node: nodeId }, 'beat not understood');
      return null;
    }
  }
}

const NODES_MAX = 1_000;
const KEPT = '10 minutes';

/**
 * Node beats as rows of a table: membership depends on them while the bucket cannot be read, and checks them before it
 * suspects a node.
 */
interface SeenBeat extends NodeBeat {
  /** Time since the row was written, by Postgres' clock. */
  readonly ageMs: number;
}

export class NodeRows {
  constructor(
    private readonly sql: Sql,
    private readonly deadlineMs: number,
  ) {}

  async write({ nodeId, peerAddress, beat, leaving }: NodeBeat): Promise<void> {
    // A delayed beat never replaces a later one.
    const query = this.sql`
      insert into scheduler.nodes as n (node_id, peer_address, beat, leaving)
      values (${nodeId}, ${peerAddress}, ${beat}, ${leaving})
      on conflict (node_id) do update
        set peer_address = excluded.peer_address, beat = excluded.beat, leaving = excluded.leaving,
            seen_at = clock_timestamp()
      where n.beat < excluded.beat`;
    await withDeadline(query, this.deadlineMs);
  }

  async read(): Promise<SeenBeat[]> {
    const query = this.sql<SeenBeat[]>`
      select node_id as "nodeId", peer_address as "peerAddress", beat, leaving,
             (extract(epoch from clock_timestamp() - seen_at) * 1000)::float8 as "ageMs"
        from scheduler.nodes order by seen_at desc limit ${NODES_MAX}`;
    return withDeadline(query, this.deadlineMs);
  }

  async removeOld(): Promise<void> {
    const query = this.sql`delete from scheduler.nodes where seen_at < clock_timestamp() - ${KEPT}::interval`;
    await withDeadline(query, this.deadlineMs);
  }
}
