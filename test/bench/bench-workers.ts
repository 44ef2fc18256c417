// Workers beside those of the stack: one real process, or one process that plays many.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { nodeArguments } from '@methods/built-code/node-arguments';
import type { BenchStack } from './bench-stack.ts';
import type { Played } from './played-worker.ts';

const WORKER = new URL('../../libs/worker/src/main.ts', import.meta.url);
const PLAYED = new URL('./played-workers-process.ts', import.meta.url);

export interface BenchWorkers {
  readonly pid: number;
  stop(): Promise<void>;
}

/** One worker, as it connects. */
export async function startWorker(stack: BenchStack, method: string, concurrency: number): Promise<BenchWorkers> {
  const folder = mkdtempSync(join(tmpdir(), 'methods-bench-worker-'));
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '/',
    LOG_LEVEL: 'warn',
    METHODS_GRPC_URL: stack.grpcUrl,
    SERVICE_API_KEY: stack.apiKey,
    WORKER_METHODS: method,
    WORKER_CONCURRENCY: String(concurrency),
    WORKER_DATA_DIR: folder,
  };
  const child = spawn(process.execPath, nodeArguments(WORKER), { stdio: ['ignore', 'pipe', 'inherit'], env });
  return begun(child, () => {
    child.kill('SIGTERM');
    return () => rmSync(folder, { recursive: true, force: true });
  });
}

/** All of them in one process, when each is welcome. */
export function startPlayedWorkers(workers: readonly Played[]): Promise<BenchWorkers> {
  const args = [...nodeArguments(PLAYED), JSON.stringify(workers)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  return begun(child, () => {
    child.stdin?.end();
    return () => {};
  });
}

async function begun(child: ChildProcess, end: () => () => void): Promise<BenchWorkers> {
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    if (child.stdout !== null) createInterface({ input: child.stdout }).once('line', () => resolve());
    void exited.then(() => reject(new Error('the workers did not start')));
  });
  return {
    pid: child.pid ?? 0,
    async stop() {
      const remove = end();
      await exited;
      remove();
    },
  };
}
