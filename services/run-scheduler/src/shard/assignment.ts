// Decides which node should own which shard. Every node computes it from the same member list, so no agreement is
// needed; epochs handle lists that differ for a moment.

/**
 * Returns the owner of each shard, by rendezvous hashing: every node has a weight for every shard, and the heaviest
 * wins. A node that joins or leaves moves only the shards it wins or loses. The order of `nodeIds` does not matter;
 * without nodes the list is empty.
 */
export function assignShards(shardCount: number, nodeIds: readonly string[]): readonly string[] {
  const nodes = [...new Set(nodeIds)].sort().map((nodeId) => ({ nodeId, seed: textHash(nodeId) }));
  if (nodes.length === 0) return [];
  const owners: string[] = [];
  for (let shard = 0; shard < shardCount; shard++) {
    let heaviest = -1;
    let owner = '';
    for (const { nodeId, seed } of nodes) {
      const weight = mix(seed ^ mix(shard + 1));
      // For equal weights the smaller id wins, because ids are sorted.
      if (weight > heaviest) {
        heaviest = weight;
        owner = nodeId;
      }
    }
    owners.push(owner);
  }
  return owners;
}

// FNV-1a, 32 bits.
function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}

// The finalizer of MurmurHash3: every input bit changes half of the output bits.
function mix(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
