// Every attack in turn against a running stack, while another organization goes about its business; its figures are
// taken alone and under each attack, in turns, so that the machine does the same to both.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createServiceKey } from '@methods/auth/service-key';
import { person } from '../e2e/people.ts';
import { type Stack, startStack } from '../e2e/stack.ts';
import { mainArguments } from '../harness/main-arguments.ts';
import { until } from '../harness/until.ts';
import { type AttackTarget, attacks } from './attacks.ts';
import { type QuietFigures, quietCalls } from './quiet-calls.ts';

export interface AttackReport {
  readonly attack: string;
  readonly alone: QuietFigures;
  readonly attacked: QuietFigures;
  /** How many of the attack's requests got which reply. */
  readonly replies: Readonly<Record<string, number>>;
}

export interface AttackOptions {
  readonly schedulers: number;
  /** Of each window. */
  readonly forMs: number;
  /** Those whose name contains this. */
  readonly only?: string;
  readonly onReport?: (report: AttackReport) => void;
}

const METHOD = fileURLToPath(new URL('./methods/many-rows.method', import.meta.url));

export async function runAttacks({ schedulers, forMs, only = '', onReport }: AttackOptions): Promise<AttackReport[]> {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const stack = await startStack('attacks', {
    args: ['--schedulers', String(schedulers)],
    // As a service is run: npm start alone sets no limit.
    env: { RATE_LIMIT_PER_KEY: '200', RATE_LIMIT_PER_ORGANIZATION: '400' },
  });
  try {
    const target = await attackerOf(stack, (silent.address() as { port: number }).port);
    await quietCalls(stack, forMs);
    const reports: AttackReport[] = [];
    for (const attack of Object.keys(attacks).filter((name) => name.includes(only))) {
      const alone = await quietCalls(stack, forMs);
      const load = await startLoad(attack, target);
      const attacked = await quietCalls(stack, forMs);
      const report = { attack, alone, attacked, replies: await load.stop() };
      reports.push(report);
      if (attacked.wrong.length > 0) keepLogs(stack, attack);
      onReport?.(report);
      await until('the attack is over', async () => (await quietCalls(stack, 200)).p99Ms < 2 * alone.p99Ms, 30_000);
    }
    return reports;
  } finally {
    await stack.stop();
    silent.close();
  }
}

/** Beside the findings, for whoever reads them. */
function keepLogs(stack: Stack, attack: string): void {
  const folder = join(tmpdir(), 'methods-attacks', attack.replaceAll(/\W+/g, '-'));
  mkdirSync(folder, { recursive: true });
  for (const { name } of stack.ready.processes) writeFileSync(join(folder, `${name}.log`), stack.log(name));
  console.error(`The logs are kept in ${folder}.`);
}

/** An organization of its own, with a key and a published method that no worker serves. */
async function attackerOf(stack: Stack, silentPort: number): Promise<AttackTarget> {
  const admin = await person(stack, { email: 'eve@attack.example', role: 'admin', organization: 'Attack' });
  const source = readFileSync(METHOD, 'utf8');
  const made = await admin.request('POST', '/api/methods', { body: { idempotency_key: 'attack-method', source } });
  const { method } = made.read<{ method: { id: string; production_id: string; current_version: string } }>();
  await admin.request('POST', `/api/methods/${method.id}/publish`, { body: { version_id: method.current_version } });
  const { key, authSha256 } = createServiceKey();
  await admin.request('POST', '/api/keys', { body: { name: 'attack', auth_sha256: authSha256.toString('hex') } });
  return {
    baseUrl: stack.ready.base_url,
    workerAddress: stack.ready.grpc_url.split(',')[0] ?? '',
    key,
    token: admin.apiKey,
    method: method.production_id,
    silentUrl: `http://127.0.0.1:${silentPort}`,
  };
}

async function startLoad(attack: string, target: AttackTarget) {
  const argument = JSON.stringify({ attack, target });
  const child = spawn(process.execPath, [...mainArguments('test/attacks/load.ts', null), argument], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const ended = new Promise((resolve) => child.once('close', resolve));
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await until('the attack begins', () => lines.length > 0 || child.exitCode !== null);
  return {
    async stop(): Promise<Record<string, number>> {
      child.stdin.end();
      await ended;
      return JSON.parse(lines[1] ?? '{}');
    },
  };
}
