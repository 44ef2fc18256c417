// A worker of one key beside the stack's own ones, as a customer runs it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { type ServerProcess, startServerProcess } from '@methods/local-stack/embedded/server-process';
import { until } from '../../harness/until.ts';
import type { Stack } from '../stack.ts';

/** Resolves once it is connected. */
export async function startedWorker(
  { ready }: Stack,
  name: string,
  key: string,
  method: string,
): Promise<ServerProcess> {
  const folder = join(ready.data_dir, name);
  mkdirSync(folder);
  const worker = await startServerProcess({
    name,
    command: process.execPath,
    args: [...nodeArguments(new URL('../../../libs/worker/src/main.ts', import.meta.url)), `--stack=${folder}`],
    logFile: join(folder, 'log'),
    marker: `--stack=${folder}`,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '/',
      METHODS_GRPC_URL: ready.grpc_url,
      SERVICE_API_KEY: key,
      WORKER_METHODS: method,
      WORKER_DATA_DIR: join(folder, 'files'),
    },
  });
  await until(`${name} is connected`, () => worker.logTail().includes('{"ready":true}'));
  return worker;
}
