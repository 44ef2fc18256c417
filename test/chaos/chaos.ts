// Random faults on a whole cluster under load, and the checks of everything that was seen meanwhile.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ChangeWitness } from '../cluster/change-witness.ts';
import { Cluster } from '../cluster/cluster.ts';
import { until } from '../harness/until.ts';
import { ChaosClient } from './chaos-client.ts';
import { checkExecutions } from './check-executions.ts';
import { checkLives } from './check-lives.ts';
import { checkWebhooks } from './check-webhooks.ts';
import { readExecutions } from './executions.ts';
import { type FaultReport, Faults } from './faults.ts';
import { type History, type Life, lastSeen } from './history.ts';
import { live, type Surroundings } from './live.ts';
import { Random } from './random.ts';
import { Receiver } from './receiver.ts';
import { StepWitness } from './step-witness.ts';
import { WorkerBirths } from './worker-births.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** How long faults strike. */
  readonly faultsMs: number;
  /** Runs started a second. */
  readonly perSecond: number;
  readonly schedulers: number;
  readonly say: (line: string) => void;
}

export interface ChaosReport {
  readonly runs: number;
  readonly operations: number;
  readonly faults: FaultReport;
  /** Sentences; none when every check holds. */
  readonly wrong: readonly string[];
  /** What is known of the first runs that the sentences name. */
  readonly traces: readonly string[];
}

const METHODS = fileURLToPath(new URL('./methods/', import.meta.url));
const TURN_MS = 50;
/** Lives that begin after the last fault, which find the cluster well. */
const LAST_LIVES = 10;
const WEBHOOKS_WITHIN_MS = 180_000;
const READS_AT_ONCE = 20;
const TRACES = 5;
/** A process that died several times waits up to 5 s before it is started again. */
const SETTLED_WITHIN_MS = 180_000;
const ENV = {
  WORKER_LEASE_MS: '6000',
  HEARTBEAT_MS: '1000',
  WORKER_DRAIN_MS: '5000',
  WEBHOOK_RETRY_MS: '300,600,1200,2400,4800',
};

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { schedulers } = options;
  const cluster = await Cluster.start({
    schedulers,
    gateways: 2,
    workers: 3,
    concurrency: 8,
    env: ENV,
    methods: METHODS,
  });
  const receiver = new Receiver(new Random(options.seed + 1), cluster.ready.webhook_secret);
  let witness: ChangeWitness | null = null;
  try {
    await receiver.start();
    witness = await ChangeWitness.watch(cluster);
    const report = await strike(options, cluster, receiver, witness);
    if (report.wrong.length > 0) keepLogs(options, cluster);
    return report;
  } catch (error) {
    keepLogs(options, cluster);
    throw error;
  } finally {
    await witness?.close();
    await receiver.stop();
    await cluster.stop();
  }
}

function keepLogs({ seed, say }: ChaosOptions, cluster: Cluster): void {
  const folder = join(tmpdir(), `methods-chaos-${seed}`);
  cluster.keepLogs(folder);
  say(`the logs are kept in ${folder}`);
}

async function strike(
  { seed, faultsMs, perSecond, schedulers, say }: ChaosOptions,
  cluster: Cluster,
  receiver: Receiver,
  witness: ChangeWitness,
): Promise<ChaosReport> {
  const random = new Random(seed);
  const steps = await StepWitness.watch(witness.sql);
  const gateways = cluster.gatewayUrls();
  const ledger = cluster.file('chaos.ledger');
  const client = new ChaosClient(gateways, cluster.ready.api_key, random);
  const around: Surroundings = {
    client,
    random,
    ledger,
    webhook: () => receiver.place(),
    methodId: (name) => cluster.methodId(name),
  };
  const births = new WorkerBirths(cluster);
  const lives: Promise<Life>[] = [];
  let owed = 0;
  const load = setInterval(() => {
    births.look();
    for (owed += (perSecond * TURN_MS) / 1_000; owed >= 1; owed--) lives.push(live(around));
  }, TURN_MS);
  const faults = await new Faults(cluster, new Random(seed + 2), say)
    .strikeFor(faultsMs)
    .finally(() => clearInterval(load));
  const overMs = performance.now();
  await witness.settled(schedulers, SETTLED_WITHIN_MS);
  say(`all shards have owners ${(performance.now() - overMs).toFixed(0)} ms after the last fault`);
  for (let n = 0; n < LAST_LIVES; n++) lives.push(live(around));
  const ended = await withFinalReads(await Promise.all(lives), client, gateways);
  const history = async (): Promise<History> => ({
    lives: ended,
    executions: readExecutions(ledger),
    recorded: await steps.recorded(),
    notBeforeMs: births.notBeforeMs,
    webhooks: receiver.received(),
  });
  await until('all webhooks came', async () => checkWebhooks(await history()).length === 0, WEBHOOKS_WITHIN_MS).catch(
    () => {},
  );
  const seen = await history();
  const wrong = [
    ...checkLives(seen),
    ...checkExecutions(seen),
    ...checkWebhooks(seen),
    ...checkProcesses(cluster, faults),
    ...(await agreement(witness)),
  ];
  const operations = ended.reduce((sum, life) => sum + life.operations.length, 0);
  const traces = await Promise.all(runsNamed(wrong).map((runId) => trace(runId, seen, witness)));
  return { runs: ended.length, operations, faults, wrong, traces };
}

function runsNamed(sentences: readonly string[]): string[] {
  const named = new Set(sentences.flatMap((sentence) => sentence.match(/run_[0-9a-z]{26}/g) ?? []));
  return [...named].slice(0, TRACES);
}

async function trace(runId: string, { executions, recorded }: History, witness: ChangeWitness): Promise<string> {
  const lines = [
    ...(await witness.changesOf(runId)),
    ...executions
      .filter((execution) => execution.runId === runId)
      .map(({ step, workerPid, beganMs, endedMs }) => `${beganMs} ${step} in worker ${workerPid} until ${endedMs}`),
    ...recorded
      .filter((record) => record.runId === runId)
      .map(({ step, recordedMs }) => `${recordedMs} ${step} recorded`),
  ];
  return `${runId}\n  ${lines.sort().join('\n  ')}`;
}

/** Each gateway shows the same end of each run. */
async function withFinalReads(
  lives: readonly Life[],
  client: ChaosClient,
  gateways: readonly string[],
): Promise<Life[]> {
  const read: Life[] = [];
  const waiting = [...lives];
  const readNext = async (): Promise<void> => {
    for (let life = waiting.shift(); life !== undefined; life = waiting.shift()) {
      const runId = lastSeen(life)?.runId;
      const reads = runId === undefined ? [] : await Promise.all(gateways.map((url) => client.read(runId, 0, url)));
      read.push({ ...life, operations: [...life.operations, ...reads] });
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext));
  return read;
}

/** No process ends but those that were ended from outside. */
function checkProcesses(cluster: Cluster, { ended }: FaultReport): string[] {
  const restarts = cluster.restarts();
  return cluster.names().flatMap((name) => {
    const own = (restarts.get(name) ?? 0) - (ended.get(name) ?? 0);
    return [
      ...(own > 0 ? [`${name} ended ${own} times by itself`] : []),
      ...(cluster.log(name).includes('stopping after a fault') ? [`${name} stopped after a fault`] : []),
    ];
  });
}

async function agreement(witness: ChangeWitness): Promise<string[]> {
  try {
    await witness.agree();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
