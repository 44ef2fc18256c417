// One running cluster with short leases of workers, for the tests of what is kept when a worker or NATS is lost. The
// runner builds the files that ask for it into one process (test/runner/shared-processes.ts). Each test begins with a
// cluster that is well, but for NATS: the cluster starts without it.
import { after } from 'node:test';
import { isRunning } from '@methods/base/running-process';
import { type TestNats, testNats } from '../harness/nats.ts';
import { ChangeWitness } from './change-witness.ts';
import { Cluster } from './cluster.ts';
import { RunClient } from './run-client.ts';

export const LEASE_MS = 6_000;
/** Less than a step that waits for its gate lasts. */
export const DRAIN_MS = 500;
const HEARTBEAT_MS = 500;

export interface ShortLeases {
  readonly cluster: Cluster;
  readonly client: RunClient;
  /** Of everything since the start. */
  readonly witness: ChangeWitness;
  /** Killed when the cluster starts. */
  readonly nats: TestNats;
  /** Starts NATS if no test has. */
  startNats(): Promise<void>;
}

let nats: TestNats | undefined;
let common: Promise<ShortLeases> | undefined;

// Of the process: when the tests of all its files have ended.
after(async () => {
  const running = await common?.catch(() => undefined);
  await running?.witness.close();
  await running?.cluster.stop();
  await nats?.stop();
});

export function commonStack(): Promise<ShortLeases> {
  common ??= start();
  return common;
}

async function start(): Promise<ShortLeases> {
  const server = await testNats();
  nats = server;
  await server.kill();
  const cluster = await Cluster.start({
    sharesPostgres: true,
    schedulers: 3,
    workers: 2,
    env: {
      NATS_URL: server.url,
      WORKER_LEASE_MS: String(LEASE_MS),
      HEARTBEAT_MS: String(HEARTBEAT_MS),
      WORKER_DRAIN_MS: String(DRAIN_MS),
    },
  });
  try {
    const witness = await ChangeWitness.watch(cluster);
    const startNats = async () => {
      if (!isRunning(server.pid)) await server.restart();
    };
    return { cluster, client: new RunClient(cluster), witness, nats: server, startNats };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
