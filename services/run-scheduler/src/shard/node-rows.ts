// Node beats as rows of a table: membership depends on them while the bucket of beats cannot be read, and checks them
// before it suspects a node.
import { withDeadline } from '@methods/postgres/deadline';
import type { Sql } from '@methods/postgres/pool';
import type { NodeBeat } from './beat-watch.ts';

const NODES_MAX = 1_000;
const KEPT = '10 minutes';

export interface SeenBeat extends NodeBeat {
  /** Since the row was written, by Postgres' clock. */
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
