import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before } from 'node:test';
import postgres from 'postgres';
import { type Door, doorTo } from '../harness/database-door.ts';
import { type TestNats, testNats } from '../harness/nats.ts';
import { type OwnPostgres, startTestPostgres } from '../harness/postgres.ts';
import { smallDisk } from '../harness/small-disk.ts';
import { elapse, until } from '../harness/until.ts';
import { ChangeWitness } from './change-witness.ts';
import { Cluster } from './cluster.ts';
import { clusterTest } from './cluster-test.ts';
import { Ledger } from './ledger.ts';
import { OutageProbe } from './outage-probe.ts';
import { RunClient } from './run-client.ts';

/** A stall of 6 s was survived before, one of 7 to 9 s was not. */
const STALL_MS = 8_000;
/** A reply's own limit: a call to the registry and one to the run-scheduler of 5 s each. The rest is for busy machines. */
const REPLY_MS = 25_000;
const CONNECTIONS_MAX = 80;

const disk = smallDisk(256);
let database: OwnPostgres;
let door: Door;
let nats: TestNats;
let cluster: Cluster;
let client: RunClient;
let witness: ChangeWitness;
let ledger: Ledger;
let receiver: Server;
let firstRun: string;
const delivered = new Set<string>();

before(async () => {
  const settings = { max_connections: String(CONNECTIONS_MAX), min_wal_size: '32MB', max_wal_size: '64MB' };
  database = await startTestPostgres(settings, ...(disk === null ? [] : [join(disk.path, 'postgres')]));
  door = await doorTo(database.url);
  nats = await testNats(...(disk === null ? [] : [join(disk.path, 'nats')]));
  receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      delivered.add(JSON.parse(body).run_id);
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  cluster = await Cluster.start({ schedulers: 2, env: { POSTGRES_URL: door.url, NATS_URL: nats.url } });
  client = new RunClient(cluster);
  witness = await ChangeWitness.watch(cluster);
  ledger = new Ledger(cluster, 'outages');
  firstRun = (await client.start('two-steps', { ledger: ledger.path }, 10_000)).run_id;
});
after(async () => {
  await witness?.close();
  await cluster?.stop();
  await door?.shut();
  await database?.stop();
  await nats?.stop();
  receiver?.close();
  disk?.remove();
});

/**
 * Callers ask all the while. None sees anything but a reply or a 503, in time; no process ends; every run whose start
 * was acknowledged ends, and its webhook comes.
 */
async function outage(work: (probe: OutageProbe) => Promise<void>, padding = ''): Promise<string> {
  const before = cluster.processes();
  const webhook_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const method = cluster.methodId('two-steps');
  const start = () => ({ inputs: { ledger: ledger.path }, metadata: { padding }, webhook_url });
  const probe = new OutageProbe(cluster, { runId: firstRun, method, start });
  try {
    await work(probe);
    const backMs = performance.now();
    await client.start('two-steps', { ledger: ledger.path }, 10_000);
    const workedAfterMs = performance.now() - backMs;
    const report = await probe.stop();
    assert.deepEqual(report.wrong, []);
    assert.ok(report.longestMs < REPLY_MS, `a reply took ${report.longestMs} ms`);
    const ended = await Promise.all(report.runIds.map((runId) => client.rest(runId)));
    assert.deepEqual(
      ended.filter(({ status }) => status !== 'succeeded').map(({ run_id, status }) => `${run_id} ${status}`),
      [],
    );
    assert.deepEqual(cluster.processes(), before, 'processes that ended');
    await until('the webhooks come', () => report.runIds.every((runId) => delivered.has(runId)));
    await witness.agree();
    const { served, unavailable, longestMs } = report;
    return `${served} served, ${unavailable} refused, longest ${longestMs.toFixed(0)} ms, a run ended ${workedAfterMs.toFixed(0)} ms after`;
  } finally {
    await probe.stop();
  }
}

clusterTest(
  'every process of Postgres stalls for 8 s',
  () => cluster,
  async (_, say) => {
    say(
      await outage(async () => {
        database.freeze();
        await elapse(STALL_MS);
        database.thaw();
      }),
    );
  },
);

clusterTest(
  'the links to Postgres carry nothing any more, and then NATS stalls and dies',
  () => cluster,
  async (_, say) => {
    say(
      await outage(async (probe) => {
        door.stall();
        await until('callers are refused', () => probe.refused > 0);
        nats.freeze();
        await door.shut();
        door.flow();
        await door.open();
        await client.start('two-steps', { ledger: ledger.path }, 10_000);
        await nats.kill();
        await nats.restart();
      }),
    );
  },
);

clusterTest(
  'Postgres is killed, and another server takes over that first only reads',
  () => cluster,
  async (_, say) => {
    say(
      await outage(async (probe) => {
        await door.shut();
        await database.stop('SIGKILL');
        database = await database.elsewhere();
        door.leadTo(database.url);
        const admin = postgres(database.url, { max: 1, fetch_types: false });
        const readOnly = async (on: boolean) => {
          await admin.unsafe(`alter system set default_transaction_read_only = ${on}`);
          await admin`select pg_reload_conf()`;
        };
        await readOnly(true);
        await door.open();
        const before = probe.refused;
        await until('callers are refused', () => probe.refused > before + 3);
        await admin.unsafe('set default_transaction_read_only = off');
        await readOnly(false);
        await admin.end({ timeout: 1 });
      }),
    );
  },
);

clusterTest(
  'others take every connection that Postgres has',
  () => cluster,
  async (_, say) => {
    say(
      await outage(async () => {
        // Of the services none is left but those they hold.
        const greedy = postgres(database.url, { max: CONNECTIONS_MAX, fetch_types: false, connect_timeout: 2 });
        const taken = Array.from({ length: CONNECTIONS_MAX }, () => greedy`select pg_sleep(3)`.catch(() => {}));
        await greedy`select pg_terminate_backend(pid) from pg_stat_activity where application_name <> 'postgres.js'`.catch(
          () => {},
        );
        await Promise.all(taken);
        await greedy.end({ timeout: 1 });
      }),
    );
  },
);

clusterTest(
  'the disk of Postgres and of NATS is full',
  () => cluster,
  async (_, say) => {
    if (disk === null || !existsSync(join(disk.path, 'postgres', 'data', 'cluster'))) {
      return say('not tried: this user may not mount a file system of its own');
    }
    say(
      await outage(async (probe) => {
        disk.fill();
        const before = probe.refused;
        await until('callers are refused', () => probe.refused > before + 3);
        disk.free();
        // JetStream gives up a full disk until its next start.
        await nats.restart();
      }, 'x'.repeat(400)),
    );
  },
);
