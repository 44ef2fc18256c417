// Decides which nodes are alive, only from beats: a node is silent when no new value of its beat was seen for a while
// on the observer's own monotonic clock. Watchers are not notified of expired bucket entries, and wall clocks jump, so
// neither counts. Holds no timer and does no I/O.

export interface NodeBeat {
  readonly nodeId: string;
  /** Where peers reach it, host:port. */
  readonly peerAddress: string;
  /** Grows with every beat of the process. */
  readonly beat: number;
  /** The node gives its shards away and takes none. */
  readonly leaving: boolean;
}

interface Standing {
  peerAddress: string;
  beat: number;
  alive: boolean;
  /** For a node that is dead or reported as leaving: the first beat that makes it a member again. */
  returnsAtBeat: number;
  leavingSinceMs: number | null;
  seenAtMs: number;
  seenInBucketAtMs: number;
}

// A beat in flight when its sender died must not bring it back; a live node is back with its second beat.
const RETURN_BEATS = 2;
const NODES_MAX = 1_000;
const FORGET_MS = 600_000;

export class BeatWatch {
  private readonly nodes = new Map<string, Standing>();
  private deafUntilMs: number;

  constructor(
    private readonly silentMs: number,
    nowMs: number,
  ) {
    this.deafUntilMs = nowMs;
  }

  /**
   * Records a beat; `fresh` is false for a first sight that is too old to count as life. Returns true when the members
   * changed.
   */
  observe(beat: NodeBeat, source: 'bucket' | 'rows', nowMs: number, fresh = true): boolean {
    const known = this.nodes.get(beat.nodeId);
    if (!known) return this.add(beat, nowMs, fresh);
    if (source === 'bucket' && beat.beat >= known.beat) known.seenInBucketAtMs = nowMs;
    if (beat.beat <= known.beat) return false;
    known.beat = beat.beat;
    known.seenAtMs = nowMs;
    known.peerAddress = beat.peerAddress;
    const before = isMember(known);
    if (beat.leaving) known.leavingSinceMs ??= nowMs;
    else if (beat.beat >= known.returnsAtBeat) {
      known.alive = true;
      known.leavingSinceMs = null;
    }
    return isMember(known) !== before;
  }

  /** Marks the node as dead until it beats again. Returns true when that changed anything. */
  suspect(nodeId: string): boolean {
    const known = this.nodes.get(nodeId);
    if (!known?.alive) return false;
    known.alive = false;
    known.returnsAtBeat = known.beat + RETURN_BEATS;
    return true;
  }

  /**
   * The node is giving its shards away, which was noticed before its own beat reported it. Returns true when the
   * members changed.
   */
  leaving(nodeId: string, nowMs: number): boolean {
    const known = this.nodes.get(nodeId);
    if (!known || known.leavingSinceMs !== null) return false;
    known.leavingSinceMs = nowMs;
    known.returnsAtBeat = known.beat + RETURN_BEATS;
    return known.alive;
  }

  /**
   * The observer could not receive, or was frozen, until now, so silence before this proves nothing. An observer that
   * saw nothing for an hour must not suspect all nodes in its first moment.
   */
  deaf(nowMs: number): void {
    this.deafUntilMs = nowMs;
  }

  /** Returns alive nodes that were silent for too long, or have been leaving for as long. */
  silent(nowMs: number): string[] {
    return this.idsWhere((node) => node.alive && this.silenceMs(node, nowMs) >= this.silentMs);
  }

  /** Reports whether an alive node was not seen in the bucket for `bucketMs`. */
  missingInBucket(nowMs: number, bucketMs: number): boolean {
    for (const node of this.nodes.values()) if (node.alive && nowMs - node.seenInBucketAtMs >= bucketMs) return true;
    return false;
  }

  /** Returns the nodes that are alive and not leaving. */
  members(): { nodeId: string; peerAddress: string }[] {
    return this.idsWhere(isMember).map((nodeId) => ({
      nodeId,
      peerAddress: this.nodes.get(nodeId)?.peerAddress ?? '',
    }));
  }

  /** Returns alive nodes, leaving or not: no node may take their shards. */
  alive(): string[] {
    return this.idsWhere((node) => node.alive);
  }

  isAlive(nodeId: string): boolean {
    return this.nodes.get(nodeId)?.alive ?? false;
  }

  /** Returns known nodes that are no longer alive. */
  gone(): string[] {
    return this.idsWhere((node) => !node.alive);
  }

  private add({ nodeId, peerAddress, beat, leaving }: NodeBeat, nowMs: number, fresh: boolean): boolean {
    this.forget(nowMs);
    if (this.nodes.size >= NODES_MAX) return false;
    this.nodes.set(nodeId, {
      peerAddress,
      beat,
      alive: fresh,
      returnsAtBeat: fresh ? 0 : beat + 1,
      leavingSinceMs: leaving ? nowMs : null,
      seenAtMs: nowMs,
      seenInBucketAtMs: nowMs,
    });
    return fresh && !leaving;
  }

  private forget(nowMs: number): void {
    for (const [nodeId, node] of this.nodes) {
      if (!node.alive && nowMs - node.seenAtMs > FORGET_MS) this.nodes.delete(nodeId);
    }
  }

  private silenceMs(node: Standing, nowMs: number): number {
    const lastSignMs = Math.min(node.seenAtMs, node.leavingSinceMs ?? Number.POSITIVE_INFINITY);
    return nowMs - Math.max(lastSignMs, this.deafUntilMs);
  }

  private idsWhere(matches: (node: Standing) => boolean): string[] {
    const ids: string[] = [];
    for (const [nodeId, node] of this.nodes) if (matches(node)) ids.push(nodeId);
    return ids.sort();
  }
}

function isMember(node: Standing): boolean {
  return node.alive && node.leavingSinceMs === null;
}
