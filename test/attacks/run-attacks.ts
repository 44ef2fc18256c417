// Attacks in turn against a running stack, while another organization goes about its business; its figures are taken
// without and under each attack, in turns, so that the machine does the same to both.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServiceKey } from '@methods/auth/service-key';
import { chooseStack, fetchToken } from '@methods/local-stack/token/running-stack';
import { person } from '../e2e/people.ts';
import { type Stack, startStack } from '../e2e/stack.ts';
import { parentOf } from '../harness/process-tree.ts';
import type { AttackTarget } from './attack.ts';
import { attacks } from './attacks.ts';
import { LoadProcess } from './load-process.ts';
import { MachineUse } from './machine-use.ts';
import { QuietCaller, QuietFigures } from './quiet-calls.ts';

export interface AttackReport {
  readonly attack: string;
  /**
   * Of the last windows without an attack: the slowest calls of one of them are chance, and figures from minutes ago
   * are of a machine that did something else.
   */
  readonly alone: QuietFigures;
  readonly attacked: QuietFigures;
  /** How many of the attack's requests got which reply. */
  readonly replies: Readonly<Record<string, number>>;
  /** Under attack: the processor's time of each process, and in brackets how long its event loop was held. */
  readonly use: string;
}

export interface AttackOptions {
  readonly schedulers: number;
  /** Windows of an attack, with one without it before each. */
  readonly windows: number;
  /** Of a window under attack. */
  readonly attackedMs: number;
  /** Of one without; 0: there are none. */
  readonly aloneMs: number;
  /** Those whose name contains this, or one of these with commas between them. */
  readonly only?: string;
  readonly onReport?: (report: AttackReport) => void;
}

/** Windows without an attack that count for a report. */
const ALONE_WINDOWS = 12;

const METHOD = fileURLToPath(new URL('./methods/many-rows.method', import.meta.url));

export async function runAttacks(options: AttackOptions): Promise<AttackReport[]> {
  const { schedulers, windows, attackedMs, aloneMs, only = '', onReport } = options;
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const machine = new MachineUse();
  const stack = await startStack('attacks', {
    args: ['--schedulers', String(schedulers)],
    // As a service is run: npm start itself sets no limit.
    env: {
      RATE_LIMIT_PER_KEY: '200',
      RATE_LIMIT_PER_ORGANIZATION: '400',
      STACK_NODE_ARGS: `${machine.nodeArgs} ${process.env.STACK_NODE_ARGS ?? ''}`,
    },
  });
  const quiet = new QuietCaller(stack);
  let load: LoadProcess | null = null;
  try {
    load = new LoadProcess(await attackerOf(stack, (silent.address() as { port: number }).port));
    const processes = [...stack.ready.processes, await postgresOf(stack), load];
    // Code that runs for the first time is slow.
    await quiet.calls(Math.max(2 * aloneMs, 200));
    const aloneWindows: QuietFigures[] = [];
    const callAlone = async () => {
      const figures = new QuietFigures();
      await quiet.calls(aloneMs, figures);
      aloneWindows.push(figures);
    };
    const alone = () => {
      const figures = new QuietFigures();
      for (const window of aloneWindows.slice(-ALONE_WINDOWS)) figures.addAll(window);
      return figures;
    };
    await callAlone();
    const reports: AttackReport[] = [];
    const words = only.split(',');
    for (const attack of Object.keys(attacks).filter((name) => words.some((word) => name.includes(word)))) {
      const attacked = new QuietFigures();
      const replies: Record<string, number> = {};
      for (let n = 0; n < windows; n++) {
        await callAlone();
        await load.begin(attack);
        await machine.during(processes, () => quiet.calls(attackedMs, attacked));
        for (const [reply, times] of Object.entries(await load.end())) replies[reply] = (replies[reply] ?? 0) + times;
        if (aloneMs > 0) await settle(quiet, alone());
      }
      const report = { attack, alone: alone(), attacked, replies, use: machine.take() };
      reports.push(report);
      if (attacked.wrong.length > 0) keepLogs(stack, attack);
      onReport?.(report);
    }
    return reports;
  } finally {
    load?.stop();
    quiet.close();
    await stack.stop();
    silent.close();
    machine.remove();
  }
}

/** The parent of one of its sessions. */
async function postgresOf({ sql }: Stack): Promise<{ name: string; pid: number }> {
  const [session] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return { name: 'postgres', pid: parentOf(session?.pid ?? 0) };
}

/** What the attack has begun may still be under way; ten seconds later it is the next window's. */
async function settle(quiet: QuietCaller, alone: QuietFigures): Promise<void> {
  for (let looks = 0; looks < 50; looks++) {
    const now = new QuietFigures();
    await quiet.calls(200, now);
    if (now.ms(1) < 2 * alone.ms(0.99)) return;
  }
}

/** Beside the findings, for their readers. */
function keepLogs(stack: Stack, attack: string): void {
  const folder = join(tmpdir(), 'methods-attacks', attack.replaceAll(/\W+/g, '-'));
  mkdirSync(folder, { recursive: true });
  for (const { name } of stack.ready.processes) writeFileSync(join(folder, `${name}.log`), stack.log(name));
  console.error(`The logs are kept in ${folder}.`);
}

/** An organization of its own, with a key and a published method that no worker serves. */
async function attackerOf(stack: Stack, silentPort: number): Promise<AttackTarget> {
  const eve = { email: 'eve@attack.example', role: 'admin', organization: 'Attack' } as const;
  const admin = await person(stack, eve);
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
    mcpToken: await fetchToken(chooseStack(stack.ready.data_dir), { ...eve, audience: 'mcp' }),
    method: method.production_id,
    silentUrl: `http://127.0.0.1:${silentPort}`,
  };
}
