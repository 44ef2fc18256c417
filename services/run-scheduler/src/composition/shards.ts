// The nodes, this node's shards, and the links to the others.

import { Membership } from '../shard/membership.ts';
import { ShardLease } from '../shard/shard-lease.ts';
import { ShardOwner } from '../shard/shard-owner.ts';
import { PeerLinks } from '../wire/peer-links.ts';
import type { NodeParts } from './node-parts.ts';

export function provideShards(parts: NodeParts): void {
  const { provide, nodeId, clock, log, shardCount, pools, peerAddress, bus, membership, peers } = parts;
  provide(
    Membership,
    () =>
      new Membership({
        nodeId,
        peerAddress,
        bus: bus(),
        sql: pools.beats,
        clock,
        logger: log.child({ part: 'members' }),
      }),
  );
  provide(
    PeerLinks,
    () => new PeerLinks({ nodeId, peerAddress, membership: membership(), clock, logger: log.child({ part: 'peers' }) }),
  );
  provide(
    ShardOwner,
    () =>
      new ShardOwner({
        nodeId,
        shardCount,
        membership: membership(),
        lease: new ShardLease({ sql: pools.shards, nodeId }),
        peers: peers(),
        clock,
        logger: log.child({ part: 'shards' }),
      }),
  );
}
