// Tracks which nodes have workers for which queues: an owner announces only the heads of these to them.
import type { Run } from '../run/run.ts';
import { type QueueKey, queueFor, queueOf, queueParts } from '../store/queue-key.ts';
import type { InterestChange } from './claim-waiters.ts';
import { queueName } from './known-queue.ts';
import type { QueueHead, ReadyRuns } from './ready-runs.ts';

type Asked = Map<string, QueueKey>;

export class QueueInterests {
  private readonly byNode = new Map<string, Asked>();
  /** Lists of which only a part has arrived. */
  private readonly parts = new Map<string, Asked>();

  constructor(
    private readonly options: {
      readonly ready: () => ReadyRuns;
      /** To a node, which may be this one. */
      readonly tell: (nodeId: string, key: QueueKey, head: QueueHead | null) => void;
    },
  ) {}

  /**
   * Handles the list of the queues that a node requests, or a part of it: `whole` begins a list, `more` means that it
   * continues.
   */
  peerAsks(nodeId: string, queues: readonly QueueKey[], { whole = true, more = false } = {}): void {
    const before = this.byNode.get(nodeId);
    const now: Asked = whole ? new Map() : (this.parts.get(nodeId) ?? new Map());
    const fresh: QueueKey[] = [];
    for (const { orgId, method } of queues) {
      const [name, key] = [queueName({ orgId, method }), { orgId, method }];
      if (!before?.has(name)) fresh.push(key);
      now.set(name, key);
    }
    if (more) this.parts.set(nodeId, now);
    else this.parts.delete(nodeId);
    this.asks(nodeId, fresh);
    if (!more) this.only(nodeId, now);
  }

  changed(nodeId: string, { added, removed }: InterestChange): void {
    this.asks(nodeId, added);
    const asked = this.byNode.get(nodeId);
    for (const key of removed) if (asked?.delete(queueName(key))) this.notAsked(key);
    if (asked?.size === 0) this.byNode.delete(nodeId);
  }

  nodeGone(nodeId: string): void {
    this.peerAsks(nodeId, []);
  }

  announce(key: QueueKey, head: QueueHead | null): void {
    const name = queueName(key);
    for (const [nodeId, queues] of this.byNode) if (queues.has(name)) this.options.tell(nodeId, key, head);
  }

  /** Returns why no worker takes a queued run, as far as this node knows; null: a worker may. */
  whyQueued(run: Run): 'feature_missing' | 'key_missing' | 'no_worker' | null {
    return run.status === 'queued' ? this.whyWaits(queueOf(run.facts)) : null;
  }

  /** The same for a queue. */
  whyWaits(queue: QueueKey): 'feature_missing' | 'key_missing' | 'no_worker' | null {
    if (this.isAsked(queueName(queue))) return null;
    const { orgId } = queue;
    const { method, needs, keyId } = queueParts(queue.method);
    // Every worker asks for runs that need no content key as well.
    const unsealed = queueFor(orgId, method, needs.join(','), null);
    if (keyId !== '' && this.isAsked(queueName(unsealed))) return 'key_missing';
    return needs.length > 0 && this.isAsked(queueName({ orgId, method })) ? 'feature_missing' : 'no_worker';
  }

  private asks(nodeId: string, queues: readonly QueueKey[]): void {
    if (queues.length === 0) return;
    const asked = this.byNode.get(nodeId) ?? new Map<string, QueueKey>();
    this.byNode.set(nodeId, asked);
    for (const key of queues) {
      asked.set(queueName(key), key);
      this.options.ready().wanted(key);
    }
  }

  private only(nodeId: string, now: Asked): void {
    const asked = this.byNode.get(nodeId);
    for (const [name, key] of asked ?? []) {
      if (now.has(name)) continue;
      asked?.delete(name);
      this.notAsked(key);
    }
    if (asked?.size === 0) this.byNode.delete(nodeId);
  }

  private notAsked(key: QueueKey): void {
    if (!this.isAsked(queueName(key))) this.options.ready().unwanted(key);
  }

  private isAsked(name: string): boolean {
    for (const queues of this.byNode.values()) if (queues.has(name)) return true;
    return false;
  }
}
