import { RunnerPool } from './runner-pool.ts';

export class CountedRunners extends RunnerPool {
  /** Steps that wait in line at a runner. */
  get queuedCount(): number {
    return this.queues.all().reduce((sum, queue) => sum + queue.queuedCount, 0);
  }
}
