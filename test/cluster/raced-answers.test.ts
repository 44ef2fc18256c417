// The short form of `npm run races`.
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { Random } from '../chaos/random.ts';
import { clusterTest } from './cluster-test.ts';
import { runRaces } from './races/run-races.ts';
import { commonStack, type ThreeSchedulers } from './three-schedulers.ts';

const RACES = 16;

let common: ThreeSchedulers;

before(async () => {
  common = await commonStack();
});

clusterTest(
  'of five answers, a deadline and a cancel at once exactly one counts, and all learn which, also while a scheduler dies',
  () => common.cluster,
  async (cluster, say) => {
    const { client, witness } = common;
    await witness.settled(3);
    const strike = () => cluster.kill('run-scheduler-2');
    const options = { cluster, client, sql: witness.sql, random: new Random(13), races: RACES, atOnce: RACES, strike };
    const { outcomes, wrong } = await runRaces(options);
    say([...outcomes].map(([outcome, count]) => `${count} ${outcome}`).join(', '));
    assert.deepEqual(wrong, []);
    // Those without a deadline and a cancel.
    const unanswered = (outcomes.get('expired') ?? 0) + (outcomes.get('cancelled') ?? 0);
    assert.ok(RACES - unanswered >= RACES / 4, `${unanswered} races ended without an answer`);
    await witness.settled(3);
    await witness.agree();
  },
);
