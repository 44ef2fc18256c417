// When each worker process came into being, as seen from outside: by looking again and again which there are.
import type { Cluster } from '../cluster/cluster.ts';

export class WorkerBirths {
  /** The last look at which a process was not there, by its id; 0 for those of the beginning. */
  readonly notBeforeMs = new Map<number, number>();
  private lookedMs = 0;

  constructor(private readonly cluster: Cluster) {}

  look(): void {
    const nowMs = Date.now();
    for (const name of this.cluster.names('worker')) {
      const pid = this.cluster.pidOf(name);
      if (!this.notBeforeMs.has(pid)) this.notBeforeMs.set(pid, this.lookedMs);
    }
    this.lookedMs = nowMs;
  }
}
