// One running cluster of three run-schedulers and two workers, for the tests of what becomes of runs when a scheduler is
// lost. The runner builds the files that ask for it into one process (test/runner/shared-processes.ts). Each test begins
// with a cluster that is well, also after a test that broke it.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { tempFolder } from '../harness/temp-folder.ts';
import { ChangeWitness } from './change-witness.ts';
import { Cluster } from './cluster.ts';
import { RunClient } from './run-client.ts';

export interface ThreeSchedulers {
  readonly cluster: Cluster;
  readonly client: RunClient;
  /** Of everything since the start. */
  readonly witness: ChangeWitness;
  /** While this file is missing, the first scheduler that has committed a claim, or granted a run before its
   * commit, makes it and dies. */
  readonly struck: string;
}

const folder = tempFolder('three-schedulers');
let common: Promise<ThreeSchedulers> | undefined;

// Of the process: when the tests of all its files have ended.
after(async () => {
  const running = await common?.catch(() => undefined);
  await running?.witness.close();
  await running?.cluster.stop();
  rmSync(folder, { recursive: true });
});

export function commonStack(): Promise<ThreeSchedulers> {
  common ??= start();
  return common;
}

async function start(): Promise<ThreeSchedulers> {
  const struck = join(folder, 'struck');
  // Not before a test wants it.
  writeFileSync(struck, '');
  const cluster = await Cluster.start({
    sharesPostgres: true,
    schedulers: 3,
    workers: 2,
    signIn: true,
    env: { FAULT_POINT: 'claim-committed,granted-early', FAULT_ONCE: struck },
  });
  try {
    return { cluster, client: new RunClient(cluster), witness: await ChangeWitness.watch(cluster), struck };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
