import { Cluster } from './cluster.ts';
import { RunClient } from './run-client.ts';
import { Ledger, Gate } from './ledger.ts';
import { until } from '../harness/until.ts';
import { cpSync } from 'node:fs';
const cluster = await Cluster.start({ schedulers: 2, workers: 2, env: { WORKER_LEASE_MS: '4000', HEARTBEAT_MS: '500', WORKER_DRAIN_MS: '500', STACK_NODE_ARGS: '--import /tmp/clu-trace.mjs' } });
const client = new RunClient(cluster);
try {
for (let i = 0; i < 12; i++) {
  const ledger = new Ledger(cluster, 'd'+i); const gate = new Gate(cluster, 'd'+i);
  const { run_id: runId } = await client.start('held-open', { ledger: ledger.path, gate: gate.path });
  const held = (n: number) => until('held '+n, () => { const h = ledger.executions(runId).filter(({ step }) => step === 'held'); return h.length === n && h.at(-1); }, 20000);
  const { workerPid } = await held(1);
  const name = cluster.nameOf(workerPid)!;
  const t = performance.now();
  const stopping = cluster.kill(name, 'SIGTERM');
  await held(2);
  const took = performance.now() - t;
  gate.open();
  const run = await client.rest(runId);
  console.log(i, name, workerPid, took.toFixed(0), run.attempts, ledger.stepsOf(runId), runId);
  await stopping;
  const sinceMs = performance.now();
  await until('both', () => cluster.names('worker').every((n) => cluster.isRunning(n)) && performance.now() - sinceMs > 5000, 30000);
}
} catch (e) { console.log(e) } finally { cpSync(cluster.folder+'/data', '/tmp/clu-data', {recursive:true, filter:(s)=>!s.includes('/postgres/')}); await cluster.stop(); }
