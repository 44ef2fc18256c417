// The private memory of the gateway, for workloads that hold many connections.
import { ownPrivateBytes } from '../harness/process-tree.ts';
import type { BenchStack } from './bench-stack.ts';

const LOOKS = 5;
const COLLECT_MS = 1_500;

/** After a forced collection, the least of several looks: garbage can only make it look like more. */
export async function gatewayBytes({ processes }: BenchStack): Promise<number> {
  const pid = processes.find(({ name }) => name === 'gateway-1')?.pid ?? 0;
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS; look++) {
    process.kill(pid, 'SIGWINCH');
    await new Promise((resolve) => setTimeout(resolve, COLLECT_MS));
    least = Math.min(least, ...ownPrivateBytes([pid]));
  }
  return least;
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
