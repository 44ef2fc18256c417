import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { until } from '../harness/until.ts';
import { ChangeWitness } from './change-witness.ts';
import { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import { NodeStarts } from './node-starts.ts';
import { RunClient } from './run-client.ts';

/** Runs that one owner has queued at any time; at 2 places and 20 ms a run, more than half a second's work. */
const BACKLOG = 60;
const PROBES = 5;
/** A run that came so much later may not be claimed first: a starved run is passed by all that come for as long as it waits. */
const LATER_MS = 6_000;

let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;

before(async () => {
  cluster = await Cluster.start({ sharesPostgres: true, schedulers: 3, concurrency: 2 });
  client = new RunClient(cluster);
  witness = await ChangeWitness.watch(cluster);
});
after(async () => {
  await witness?.close();
  await cluster?.stop();
});

clusterTest(
  'one worker and three owners, one of them always full: runs of the others are claimed in the order of their age',
  () => cluster,
  async (_, say) => {
    await witness.settled(3);
    const example = await client.start('short-pause', {}, 10_000);
    const nodes = await NodeStarts.everywhere(witness.sql, example.run_id);
    assert.equal(nodes.length, 3);
    try {
      for (const full of nodes) {
        const probes = await probeBeside(full, nodes);
        const [row] = await witness.sql<{ longest: number; overtakers: number }[]>`
          select max(probe.started_at_ms - probe.created_at_ms)::int as longest,
                 max((select count(*) from scheduler.runs later
                       where later.created_at_ms > probe.created_at_ms + ${LATER_MS}
                         and later.started_at_ms < probe.started_at_ms))::int as overtakers
            from scheduler.runs probe where run_id = any(${probes})`;
        say(`longest wait ${row?.longest} ms`);
        assert.equal(row?.overtakers, 0, `a run was overtaken by ${row?.overtakers} that came ${LATER_MS} ms later`);
      }
    } finally {
      for (const node of nodes) node.close();
    }
  },
);

/** Keeps `full` full while some runs start at each of the others. Resolves with their ids when they have ended. */
async function probeBeside(full: NodeStarts, nodes: readonly NodeStarts[]): Promise<string[]> {
  let filling = true;
  const filled = (async () => {
    while (filling) {
      const [row] = await witness.sql<{ queued: number }[]>`
        select count(*)::int as queued from scheduler.runs where status = 'queued'`;
      const missing = Math.max(0, BACKLOG - (row?.queued ?? 0));
      await Promise.all(Array.from({ length: missing }, () => full.start()));
    }
  })();
  try {
    const isFull = async () => {
      const [row] = await witness.sql<{ queued: number }[]>`
        select count(*)::int as queued from scheduler.runs where status = 'queued'`;
      return (row?.queued ?? 0) >= BACKLOG / 2;
    };
    await until('one owner is full', isFull);
    const others = nodes.filter((node) => node !== full);
    const probes = await Promise.all(others.flatMap((node) => Array.from({ length: PROBES }, () => node.start())));
    await Promise.all(probes.map((runId) => client.rest(runId)));
    return probes;
  } finally {
    filling = false;
    await filled;
  }
}
