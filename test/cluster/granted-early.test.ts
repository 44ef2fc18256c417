import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { before } from 'node:test';
import { until } from '../harness/until.ts';
import type { ChangeWitness } from './change-witness.ts';
import type { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import type { RunClient } from './run-client.ts';
import { commonStack } from './three-schedulers.ts';

const CALLERS = 8;

let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;
let struck: string;

before(async () => {
  ({ cluster, client, witness, struck } = await commonStack());
});

clusterTest(
  'a scheduler killed after it granted a run and before it committed its start: the start is made again elsewhere',
  () => cluster,
  async () => {
    await witness.settled(3);
    const warm = await client.start('measure', { text: 'warm' }, 10_000);
    assert.equal(warm.status, 'succeeded');
    rmSync(struck);
    const texts = Array.from({ length: CALLERS }, (_, n) => 'x'.repeat(n));
    const starting = texts.map((text) => client.start('measure', { text }, 10_000));
    await until('a scheduler died', () => existsSync(struck));
    const runs = await Promise.all(starting);
    assert.deepEqual(
      runs.map(({ status, attempts, result }) => [status, attempts, result?.length]),
      texts.map(({ length }) => ['succeeded', 1, length]),
    );
    await witness.agree();
  },
);
