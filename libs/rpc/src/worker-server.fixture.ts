// The server of this package's tests: the worker service, which has one method of each kind, on a real server.

import { ServiceError } from '@methods/errors/service-error';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { serveFrames } from './frame-stream.ts';
import { RpcServer, type RpcServerOptions } from './server.ts';
import { type CallContext, type ServiceImplementation } from './service-definition.ts';

type Handlers = ServiceImplementation<typeof WorkerService>;

export interface LogRecord {
  readonly level: 'debug' | 'info' | 'error';
  readonly fields: Record<string, unknown>;
}

const unused = async (_request: unknown, _context: CallContext): Promise<never> => {
  throw new ServiceError('not_found');
};

export async function startWorkerServer(handlers: Partial<Handlers>, options: Partial<RpcServerOptions> = {}) {
  const records: LogRecord[] = [];
  const write = (level: LogRecord['level']) => (fields: Record<string, unknown>) =>
    void records.push({ level, fields });
  const server = new RpcServer({
    listen: '127.0.0.1:0',
    services: [
      [
        WorkerService,
        {
          getVersion: unused,
          putLock: unused,
          putRunFolder: unused,
          async *getRunFolder() {},
          async *getInputFile() {},
          work: serveFrames(() => ({ onItems() {}, onClose() {} })),
          ...handlers,
        } satisfies Handlers,
      ],
    ],
    logger: { debug: write('debug'), info: write('info'), error: write('error') },
    graceMs: 200,
    ...options,
  });
  await server.start();
  return {
    server,
    records,
    address: `127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
