// `npm run races [-- --races 1000] [--seed N] [--at-once 40]`: races for the answers of questions on a cluster of three
// schedulers, one of which dies in every second group. Ends with 1 when a race has more than one outcome.
import { parseArgs } from 'node:util';
import { Random } from '../../chaos/random.ts';
import { ChangeWitness } from '../change-witness.ts';
import { Cluster } from '../cluster.ts';
import { RunClient } from '../run-client.ts';
import { runRaces } from './run-races.ts';

const { values } = parseArgs({
  options: {
    races: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'at-once': { type: 'string', default: '40' },
  },
});
const say = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`);
say(`seed ${values.seed}`);
const random = new Random(Number(values.seed));
const cluster = await Cluster.start({ schedulers: 3, workers: 2, signIn: true });
try {
  const witness = await ChangeWitness.watch(cluster);
  await witness.settled(3);
  const { outcomes, wrong } = await runRaces({
    cluster,
    client: new RunClient(cluster),
    sql: witness.sql,
    random,
    races: Number(values.races),
    atOnce: Number(values['at-once']),
    strike: async () => {
      const name = `run-scheduler-${random.whole(1, 3)}`;
      await cluster.kill(name);
      say(`killed ${name}`);
    },
  });
  for (const [outcome, count] of outcomes) say(`${count} ${outcome}`);
  say(`${wrong.length} findings`);
  for (const finding of wrong.slice(0, 50)) say(finding);
  await witness.agree();
  await witness.close();
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  await cluster.stop();
}
