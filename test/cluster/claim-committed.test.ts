import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { before } from 'node:test';
import { until } from '../harness/until.ts';
import type { ChangeWitness } from './change-witness.ts';
import type { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import { Ledger } from './ledger.ts';
import type { RunClient } from './run-client.ts';
import { commonStack } from './three-schedulers.ts';

const DEATHS = 2;

let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;
let struck: string;

before(async () => {
  ({ cluster, client, witness, struck } = await commonStack());
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
