import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { credentials, Client as GrpcClient, status } from '@grpc/grpc-js';
import { ServiceError } from '@methods/errors/service-error';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { until } from '@methods/test/harness/until';
import { dialFrames, serveFrames } from './frame-stream.ts';
import { startWorkerServer } from './worker-server.fixture.ts';

const LIMIT = { timeout: 120_000 };
const RUNS = Array.from({ length: 30_000 }, (_, i) => ({ runId: `run_${i}` as const, token: 't' }));
const MIB = 1024 * 1024;

const credits = (count: number) => ({ item: { case: 'credits' as const, value: { count } } });
const grant = (inputsJson: string) => ({ item: { case: 'grant' as const, value: { inputsJson } } });

describe('a stream with frames so long that they are read in parts', () => {
  test('keeps their order, and its end comes after them, from either side', LIMIT, async () => {
    const kinds = { up: [] as unknown[], down: [] as unknown[] };
    let closed = 0;
    let closedAs: ServiceError | null = null;
    await using running = await startWorkerServer({
      work: serveFrames((connection) => {
        connection.send(grant('1'));
        connection.send({ item: { case: 'heartbeatReply', value: { cancelled: RUNS } } }, MIB);
        connection.send(grant('2'));
        return {
          onItems: (items) => {
            kinds.up.push(...items.map(({ item }) => item.case));
            if (kinds.up.length === 3) connection.close(new ServiceError('unavailable', 'Draining.'));
          },
          onClose: () => void closed++,
        };
      }),
    });
    const client = dialFrames(WorkerService.method.work, running.address, {
      onItems: (items) => void kinds.down.push(...items.map(({ item }) => item.case)),
      onClose: (error) => {
        closedAs = error;
        closed++;
      },
    });
    client.send(credits(1));
    client.send({ item: { case: 'heartbeat', value: { runs: RUNS } } }, MIB);
    client.send(credits(2));
    await until('both sides were notified', () => closed === 2);
    deepEqual(kinds, { up: ['credits', 'heartbeat', 'credits'], down: ['grant', 'heartbeatReply', 'grant'] });
    equal((closedAs as ServiceError | null)?.message, 'Draining.');
  });
});

describe('a frame that nothing can read', () => {
  test('ends its stream, and none of its items arrives', LIMIT, async () => {
    const received: unknown[] = [];
    await using running = await startWorkerServer({
      work: serveFrames(() => ({ onItems: (items) => void received.push(...items), onClose() {} })),
    });
    const sender = new GrpcClient(running.address, credentials.createInsecure());
    const pass = (bytes: Buffer) => bytes;
    for (const frame of [Buffer.of(0), Buffer.alloc(300_000, 255), Buffer.alloc(0)]) {
      let code = -1;
      const call = sender.makeBidiStreamRequest('/methods.worker.v1.WorkerService/Work', pass, pass);
      call.on('error', () => {});
      call.on('status', (ended) => {
        code = ended.code;
      });
      call.resume();
      for (let i = 0; i < 3; i++) call.write(frame);
      await until('the sender was notified', () => code !== -1);
      equal(code, status.INVALID_ARGUMENT);
    }
    deepEqual(received, []);
    sender.close();
  });
});
