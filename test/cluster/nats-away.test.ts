import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before } from 'node:test';
import type { TestNats } from '../harness/nats.ts';
import { elapse, until } from '../harness/until.ts';
import type { ChangeWitness } from './change-witness.ts';
import type { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import { Gate, Ledger } from './ledger.ts';
import type { RunClient } from './run-client.ts';
import { commonStack, LEASE_MS } from './short-leases.ts';
import { SteadyLoad } from './steady-load.ts';

const AWAY_MS = 2.1 * LEASE_MS;
const HELD = 6;

let nats: TestNats;
let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;
let receiver: Server;
const delivered: string[] = [];

before(async () => {
  receiver = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => void delivered.push(chunk.toString('utf8'))).on('end', () => response.end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  ({ cluster, client, witness, nats } = await commonStack());
});
after(() => receiver?.close());

async function askedAndAnswered(count: number): Promise<void> {
  const runs = await Promise.all(Array.from({ length: count }, () => client.start('two-questions', {}, 10_000)));
  for (const run of runs) assert.equal(run.status, 'waiting');
  const ended = await Promise.all(
    runs.map(async ({ run_id, question }) => {
      const first = question?.id ?? '';
      await client.answer(run_id, { ok: true }, first);
      const second = (await client.rest(run_id, first)).question?.id ?? '';
      await client.answer(run_id, { ok: true }, second);
      return client.rest(run_id, second);
    }),
  );
  assert.deepEqual(
    ended.filter(({ status, attempts }) => status !== 'succeeded' || attempts !== 1),
    [],
  );
}

clusterTest(
  'without NATS at the first start everything works, and events follow when it comes',
  () => cluster,
  async (_, say) => {
    await witness.settled(3);
    await askedAndAnswered(20);
    const webhook_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const ledger = new Ledger(cluster, 'absent');
    const run = await client.start('two-steps', { ledger: ledger.path }, 10_000, { webhook_url });
    assert.equal(run.status, 'succeeded');
    const gate = new Gate(cluster, 'absent');
    const held = await client.start('held-open', { ledger: ledger.path, gate: gate.path });
    await until('the run is held', () => ledger.stepsOf(held.run_id) === 'before held');
    assert.equal((await client.cancel(held.run_id)).status, 202);
    assert.equal((await client.rest(held.run_id)).status, 'cancelled');
    assert.equal(delivered.length, 0);
    const cameMs = performance.now();
    await nats.restart();
    await until('the webhook is delivered', () => delivered.some((body) => body.includes(run.run_id)));
    say(`webhook ${(performance.now() - cameMs).toFixed(0)} ms after NATS came`);
    await askedAndAnswered(20);
  },
);

clusterTest(
  'NATS away for longer than two leases, and back without its data: no lease is lost, and runs go on all the while',
  () => cluster,
  async (_, say) => {
    const ledger = new Ledger(cluster, 'away');
    const gate = new Gate(cluster, 'away');
    const held = await Promise.all(
      Array.from({ length: HELD }, () => client.start('held-open', { ledger: ledger.path, gate: gate.path })),
    );
    await until('all are held', () => held.every(({ run_id }) => ledger.stepsOf(run_id) === 'before held'));
    await nats.kill();
    const goneMs = performance.now();
    const load = new SteadyLoad(client, { method: 'two-steps', inputs: { ledger: ledger.path }, perSecond: 6 });
    await askedAndAnswered(10);
    await elapse(Math.max(0, AWAY_MS - (performance.now() - goneMs)));
    await nats.wipe();
    await askedAndAnswered(10);
    const report = await load.stop();
    say(
      `${report.runs.length} runs, median ${report.medianMs.toFixed(0)} ms, longest ${report.longestMs.toFixed(0)} ms`,
    );
    gate.open();
    const ended = await Promise.all(held.map(({ run_id }) => client.rest(run_id)));
    assert.deepEqual(report.violations, []);
    assert.deepEqual(
      [...ended, ...report.runs].filter(({ status, attempts }) => status !== 'succeeded' || attempts !== 1),
      [],
    );
    const heldIds = held.map((run) => run.run_id);
    assert.deepEqual(ledger.otherThan('before held after', heldIds), []);
    const runIds = report.runs.map((run) => run.run_id);
    assert.deepEqual(ledger.otherThan('first second', runIds), []);
    await witness.agree();
  },
);
