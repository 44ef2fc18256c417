// One test on a running cluster: when it fails, the last log lines of every process are printed with it.
import { test } from 'node:test';
import type { Cluster } from './cluster.ts';

/** `say` shows a measured figure beside the test. */
export type ClusterWork = (cluster: Cluster, say: (figure: string) => void) => Promise<void>;

export function clusterTest(name: string, cluster: () => Cluster, work: ClusterWork): void {
  test(name, async (context) => {
    const running = cluster();
    try {
      await work(running, (figure) => context.diagnostic(figure));
    } catch (error) {
      console.error(running.logTails());
      throw error;
    }
  });
}
