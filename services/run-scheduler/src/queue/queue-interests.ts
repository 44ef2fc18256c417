// Which nodes have workers for which queues, and what they are told: an owner announces the heads of just these.
import type { Run } from '../run/run.ts';
import { type QueueKey, queueOf } from '../store/queue-key.ts';
import { queueName } from './known-queue.ts';
import type { QueueHead, ReadyRuns } from './ready-runs.ts';

export class QueueInterests {
  private readonly byNode = new Map<string, Map<string, QueueKey>>();

  constructor(
    private readonly options: {
      readonly ready: () => ReadyRuns;
      /** To a node, which may be this one. */
      readonly tell: (nodeId: string, key: QueueKey, head: QueueHead | null) => void;
    },
  ) {}

  /** The whole list of what a node asks for. */
  peerAsks(nodeId: string, queues: readonly QueueKey[]): void {
    const before = this.byNode.get(nodeId);
    const now = new Map(queues.map(({ orgId, method }) => [queueName({ orgId, method }), { orgId, method }]));
    if (now.size === 0) this.byNode.delete(nodeId);
    else this.byNode.set(nodeId, now);
    for (const key of now.values()) this.options.ready().wanted(key);
    for (const [name, key] of before ?? []) {
      if (!now.has(name) && !this.isAsked(name)) this.options.ready().unwanted(key);
    }
  }

  nodeGone(nodeId: string): void {
    this.peerAsks(nodeId, []);
  }

  announce(key: QueueKey, head: QueueHead | null): void {
    const name = queueName(key);
    for (const [nodeId, queues] of this.byNode) if (queues.has(name)) this.options.tell(nodeId, key, head);
  }

  /** Why nobody takes a queued run, as far as this node has heard; null: somebody may. */
  whyQueued(run: Run): 'feature_missing' | 'no_worker' | null {
    if (run.status !== 'queued' || this.isAsked(queueName(queueOf(run.facts)))) return null;
    const { orgId, method, needs } = run.facts;
    return needs !== '' && this.isAsked(queueName({ orgId, method })) ? 'feature_missing' : 'no_worker';
  }

  private isAsked(name: string): boolean {
    for (const queues of this.byNode.values()) if (queues.has(name)) return true;
    return false;
  }
}
