// What the client libraries cost an application: `run` through a worker of its own, device mode, a thousand waiting
// calls, and loading the library.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildCode } from '@methods/client/pack/build-package';
import { buildWheel } from '@methods/packages/python-wheel';
import { PACKAGES, pythonWith } from '../../e2e/python-environment.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { WorkloadResult } from '../report.ts';

const run = promisify(execFile);
const APPS = fileURLToPath(new URL('./', import.meta.url));
const RUNS = 4_000;
const TURNS = 4;
const WAITING = 1_000;
const IMPORTS = 15;

/** `stack`: without a worker. */
export async function measureClient(stack: BenchStack, scale: number): Promise<WorkloadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'methods-bench-client-'));
  try {
    const notes: string[] = [];
    for (const app of [await nodeApp(folder), await pythonApp(folder)]) {
      if ('missing' in app) notes.push(`Python: not measured: ${app.missing}`);
      else notes.push(...(await measureApp(app, stack, scale)));
    }
    return { measurements: [], notes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface App {
  readonly name: string;
  readonly folder: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** Prints the ms of loading the library in a new process. */
  readonly load: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

async function nodeApp(parent: string): Promise<App> {
  const folder = join(parent, 'node');
  const place = join(folder, 'node_modules/@methods/client');
  mkdirSync(place, { recursive: true });
  await buildCode(place);
  cpSync(join(APPS, 'app.mjs'), join(folder, 'app.mjs'));
  const code = "const b=performance.now();await import('@methods/client');console.log(performance.now()-b)";
  const load = ['--input-type=module', '-e', code];
  return { name: 'Node', folder, command: [process.execPath, 'app.mjs'], load, env: {} };
}

async function pythonApp(parent: string): Promise<App | { missing: string }> {
  const found = await pythonWith(PACKAGES);
  if ('missing' in found) return found;
  const folder = join(parent, 'python');
  mkdirSync(folder);
  const site = join(folder, 'site');
  const python = join(found.bin, 'python');
  const wheel = await buildWheel(folder, join(folder, 'scratch'));
  await run(python, ['-m', 'zipfile', '-e', join(folder, wheel), site]);
  cpSync(join(APPS, 'app.py'), join(folder, 'app.py'));
  const code = 'import time;b=time.perf_counter();import methods;print((time.perf_counter()-b)*1000)';
  return { name: 'Python', folder, command: [python, 'app.py'], load: ['-c', code], env: { PYTHONPATH: site } };
}

async function measureApp(app: App, stack: BenchStack, scale: number): Promise<string[]> {
  const [program, ...args] = app.command;
  const env = { PATH: process.env.PATH, HOME: app.folder, ...app.env };
  const measured = async (mode: string, method: string, runs: number) => {
    const settings = { SERVICE_API_KEY: stack.apiKey, METHODS_SERVER: stack.baseUrl };
    const order = { MODE: mode, METHOD: stack.methods[method] ?? '', RUNS: String(runs) };
    const { stdout } = await run(program, args, { cwd: app.folder, env: { ...env, ...settings, ...order } });
    return JSON.parse(stdout) as unknown;
  };
  const runs = Math.ceil((RUNS / TURNS) * scale);
  const [plain, sealed]: [number[], number[]] = [[], []];
  // In turns, so that a busy moment of the machine meets both. Each has a worker of its own.
  for (let turn = 0; turn < TURNS; turn++) {
    plain.push(...((await measured('account', 'one-step', runs)) as number[]));
    sealed.push(...((await measured('device', 'one-step', runs)) as number[]));
  }
  const open = (await measured('waiting', 'wait-for-an-hour', Math.ceil(WAITING * scale))) as Record<string, number>;
  const loads: number[] = [];
  for (let n = 0; n < IMPORTS; n++) {
    loads.push(Number((await run(program, app.load, { cwd: app.folder, env })).stdout));
  }
  const times = (values: readonly number[]) => `p50 ${at(values, 0.5)} ms, p95 ${at(values, 0.95)} ms`;
  const timers = open.timers === undefined ? '' : `, ${open.timers} timers`;
  return [
    `${app.name}: run() by the worker of the application: ${times(plain)}; sealed: ${times(sealed)}`,
    `${app.name}: ${Math.ceil(WAITING * scale)} waiting calls: ${open.sockets} connections${timers}`,
    `${app.name}: loading the library: p50 ${at(loads, 0.5)} ms, least ${at(loads, 0)} ms`,
  ];
}

function at(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1);
}
