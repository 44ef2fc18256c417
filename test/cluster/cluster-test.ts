// One test on a running cluster: when it fails, the last log lines of every process are printed with it.
import { test } from 'node:test';
import type { Cluster } from './cluster.ts';

export function clusterTest(name: string, cluster: () => Cluster, work: (cluster: Cluster) => Promise<void>): void {
  test(name, async () => {
    const running = cluster();
    try {
      await work(running);
    } catch (error) {
      console.error(running.logTails());
      throw error;
    }
  });
}
