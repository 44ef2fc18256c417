// The queues of a pool by their keys.
import type { Runner } from './runner.ts';
import { RunnerQueue } from './runner-queue.ts';

export class RunnerQueues {
  private readonly queues = new Map<string, RunnerQueue>();

  of(key: string): RunnerQueue {
    let queue = this.queues.get(key);
    if (queue === undefined) {
      queue = new RunnerQueue(key);
      this.queues.set(key, queue);
    }
    return queue;
  }

  get(key: string): RunnerQueue | undefined {
    return this.queues.get(key);
  }

  all(): readonly RunnerQueue[] {
    return [...this.queues.values()];
  }

  remove({ key }: RunnerQueue): void {
    this.queues.delete(key);
  }

  /** Of the other queues without a runner, the one that has waited longest. */
  waiting(than: RunnerQueue): RunnerQueue | null {
    if (this.queues.size === 1) return null;
    let longest: RunnerQueue | null = null;
    let sinceMs = Number.POSITIVE_INFINITY;
    for (const queue of this.queues.values()) {
      const head = queue === than || queue.runners.size > 0 ? null : queue.head();
      if (head === null || head.sinceMs >= sinceMs) continue;
      longest = queue;
      sinceMs = head.sinceMs;
    }
    return longest;
  }

  longestIdle(): Runner | null {
    let oldest: Runner | null = null;
    for (const { idle } of this.queues.values()) {
      if (idle[0] && (oldest === null || idle[0].sinceMs < oldest.sinceMs)) oldest = idle[0];
    }
    return oldest;
  }

  idleSince(ms: number): Runner[] {
    return this.all().flatMap(({ idle }) => idle.filter((runner) => runner.sinceMs <= ms));
  }
}
