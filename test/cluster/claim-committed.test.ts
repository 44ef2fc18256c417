import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/until.ts';
import { ChangeWitness } from './change-witness.ts';
import { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import { Ledger } from './ledger.ts';
import { RunClient } from './run-client.ts';

const DEATHS = 2;

const folder = tempFolder('fault');
const struck = join(folder, 'struck');
let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;

before(async () => {
  // The point strikes where this file is missing: not before the test wants it.
  writeFileSync(struck, '');
  cluster = await Cluster.start({
    sharesPostgres: true,
    schedulers: 3,
    env: { FAULT_POINT: 'claim-committed', FAULT_ONCE: struck },
  });
  client = new RunClient(cluster);
  witness = await ChangeWitness.watch(cluster);
});
after(async () => {
  await witness?.close();
  await cluster?.stop();
  rmSync(folder, { recursive: true });
});

clusterTest(
  'a scheduler killed between the commit of a claim and its grant: the run runs elsewhere at once, as attempt 1',
  () => cluster,
  async (_, say) => {
    const ledger = new Ledger(cluster, 'claim');
    for (let death = 0; death < DEATHS; death++) {
      // Three again: what is measured is not how fast a process starts.
      await witness.settled(3);
      rmSync(struck);
      const starting = client.start('two-steps', { ledger: ledger.path }, 10_000);
      const diedMs = await until('a scheduler died after its commit', () => existsSync(struck) && performance.now());
      const run = await starting;
      const tookMs = performance.now() - diedMs;
      say(`${tookMs.toFixed(0)} ms from the death to the end of the run`);
      assert.deepEqual([run.status, run.attempts], ['succeeded', 1]);
      assert.equal(ledger.stepsOf(run.run_id), 'first second');
      assert.ok(tookMs < 20_000, `it took ${tookMs} ms: it waited for the end of its lease`);
    }
    await witness.agree();
  },
);
