// A stack for measuring: the real one, as separate processes, with the bench's own methods.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '@methods/built-code/node-arguments';

const COLLECT = new URL('./collect-on-signal.mjs', import.meta.url).href;
const STACK = new URL('../../deploy/local/src/main.ts', import.meta.url);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface BenchStack {
  /** Of the process that holds the others. */
  readonly pid: number;
  readonly baseUrl: string;
  /** The worker endpoint of the first run-scheduler. */
  readonly grpcUrl: string;
  readonly apiKey: string;
  readonly orgId: string;
  readonly postgresUrl: string;
  readonly dataDir: string;
  readonly methods: Readonly<Record<string, string>>;
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
  stop(): Promise<void>;
}

/** `nodeArgs`: for each Node process of the stack. */
export async function startBenchStack(
  args: readonly string[],
  nodeArgs = '',
  env: Readonly<Record<string, string>> = {},
): Promise<BenchStack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'methods-bench-'));
  const methods = fileURLToPath(new URL('./methods/', import.meta.url));
  const child = spawn(
    process.execPath,
    [...nodeArguments(STACK), '--json', '--port', '0', '--data-dir', dataDir, '--methods', methods, ...args],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        LOG_LEVEL: 'warn',
        ...env,
        STACK_NODE_ARGS: `--expose-gc --import ${COLLECT} ${nodeArgs} ${process.env.STACK_NODE_ARGS ?? ''}`,
      },
    },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    void exited.then(() => reject(new Error('the stack did not start')));
  });
  const ready = JSON.parse(line);
  return {
    pid: child.pid ?? 0,
    baseUrl: ready.base_url,
    grpcUrl: ready.grpc_url.split(',')[0],
    apiKey: ready.api_key,
    orgId: ready.org_id,
    postgresUrl: ready.postgres_url,
    dataDir: ready.data_dir,
    methods: ready.methods,
    processes: ready.processes,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
