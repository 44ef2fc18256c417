import { deepEqual, equal, ok } from 'node:assert/strict';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { credentials, Client as GrpcClient } from '@grpc/grpc-js';
import { ServiceError } from '@methods/errors/service-error';
import { type SchedulerItem, type WorkerItem, WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { until } from '@methods/test/harness/until';
import { type DialOptions, dialFrames, type FrameConnection, type SentItem, serveFrames } from './frame-stream.ts';
import { startWorkerServer } from './worker-server.fixture.ts';

const LIMIT = { timeout: 120_000 };

type Down = FrameConnection<SentItem<typeof WorkerService.method.work.output>>;
type Up = FrameConnection<SentItem<typeof WorkerService.method.work.input>>;

/** One end of a stream and everything that happened to it. */
class End<In> {
  readonly frames: In[][] = [];
  readonly closes: (ServiceError | null)[] = [];
  readonly handlers = {
    onItems: (items: In[]) => void this.frames.push(items),
    onClose: (error: ServiceError | null) => void this.closes.push(error),
  };

  get items(): In[] {
    return this.frames.flat();
  }
}

class ServedEnds {
  readonly ends: (End<WorkerItem> & { connection: Down })[] = [];
  readonly work = serveFrames((connection: Down) => {
    const end = Object.assign(new End<WorkerItem>(), { connection });
    this.ends.push(end);
    return end.handlers;
  });

  async first() {
    await until('a stream was accepted', () => this.ends.length > 0);
    const [end] = this.ends;
    ok(end);
    return end;
  }
}

function dial(address: string, options: Partial<DialOptions<SchedulerItem>> = {}) {
  const end = new End<SchedulerItem>();
  const connection: Up = dialFrames(WorkerService.method.work, address, { ...end.handlers, ...options });
  return Object.assign(end, { connection });
}

const credits = (count: number) => ({ item: { case: 'credits' as const, value: { count } } });
const counted = ({ item }: WorkerItem) => (item.case === 'credits' ? item.value.count : -1);
const grant = (inputsJson: string) => ({ item: { case: 'grant' as const, value: { inputsJson } } });
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a stream of frames', () => {
  test('10,007 echoes arrive, in order, before an orderly end that both sides report once', LIMIT, async () => {
    const closes: (ServiceError | null)[] = [];
    await using running = await startWorkerServer({
      work: serveFrames((connection) => ({
        onItems: (items) => {
          for (const item of items)
            connection.send({ item: { case: 'cancel', value: { token: String(counted(item)) } } });
        },
        onClose: (error) => void closes.push(error),
      })),
    });
    const client = dial(running.address);
    for (let i = 0; i < 10_007; i++) {
      client.connection.send(credits(i));
      if (i % 97 === 0) await turn();
    }
    client.connection.close();
    await until('both sides were notified', () => client.closes.length === 1 && closes.length === 1);
    deepEqual(
      client.items.map(({ item }) => (item.case === 'cancel' ? Number(item.value.token) : -1)),
      Array.from({ length: 10_007 }, (_, i) => i),
    );
    await turn();
    deepEqual([client.closes, closes], [[null], [null]]);
    equal(client.connection.send(credits(1)), false);
  });

  test('items sent in one turn arrive as one frame, and more than 256 items as several', LIMIT, async () => {
    const served = new ServedEnds();
    await using running = await startWorkerServer(served);
    const client = dial(running.address);
    for (let i = 0; i < 200; i++) client.connection.send(credits(i));
    await turn();
    for (let i = 200; i < 500; i++) client.connection.send(credits(i));
    const end = await served.first();
    await until('all items have arrived', () => end.items.length === 500);
    deepEqual(
      end.frames.map((items) => items.length),
      [200, 256, 44],
    );
    client.connection.close();
    await until('the client was notified', () => client.closes.length === 1);
  });

  test('a turn of large items is split into frames of about 1 MiB', LIMIT, async () => {
    await using running = await startWorkerServer({
      work: serveFrames((connection) => {
        for (let i = 0; i < 20; i++) connection.send(grant('x'.repeat(300_000)));
        return { onItems() {}, onClose() {} };
      }),
    });
    const client = dial(running.address);
    await until('all items have arrived', () => client.items.length === 20);
    ok(client.frames.every((items) => items.length <= 3));
    client.connection.close();
    await until('the client was notified', () => client.closes.length === 1);
  });

  test('metadata, the peer and the opening are known', LIMIT, async () => {
    const served = new ServedEnds();
    await using running = await startWorkerServer(served);
    let opened = 0;
    const client = dial(running.address, { metadata: { authorization: 'Bearer sk_x' }, onOpen: () => opened++ });
    const end = await served.first();
    deepEqual(end.connection.metadata.get('authorization'), ['Bearer sk_x']);
    ok(end.connection.peer.startsWith('127.0.0.1:'));
    await until('the stream is open', () => opened === 1);
    equal(client.connection.peer, running.address);
    client.connection.close();
    await until('the client was notified', () => client.closes.length === 1);
  });

  test('an item that no message can carry is handed back and its neighbours arrive', LIMIT, async () => {
    const unsendable: string[] = [];
    await using running = await startWorkerServer({
      work: serveFrames((connection) => {
        for (const text of ['a', 'x'.repeat(5_000_000), 'b']) connection.send(grant(text));
        return {
          onItems() {},
          onClose() {},
          onUnsendable: ({ item }) => void unsendable.push(item?.case ?? ''),
        };
      }),
    });
    const client = dial(running.address);
    await until('the neighbours have arrived', () => client.items.length === 2);
    deepEqual(unsendable, ['grant']);
    client.connection.close();
    await until('the client was notified', () => client.closes.length === 1);
  });
  test(
    'an item that cannot be sent is handed back to the dialling side too, and its neighbours arrive',
    LIMIT,
    async () => {
      const served = new ServedEnds();
      await using running = await startWorkerServer(served);
      const unsent: string[] = [];
      const client = dial(running.address, {
        onUnsendable: ({ item }: { item?: { case?: string | undefined } }, { code }) =>
          void unsent.push(`${item?.case} ${code}`),
      });
      client.connection.send(credits(1));
      client.connection.send({ item: { case: 'giveBack', value: { reason: 'x'.repeat(5_000_000) } } });
      // No protobuf number: encoding fails.
      client.connection.send(credits(-1));
      client.connection.send(credits(2));
      const end = await served.first();
      await until('the neighbours have arrived', () => end.items.length === 2);
      deepEqual(unsent, ['giveBack too_large', 'credits internal']);
      client.connection.close();
      await until('the client was notified', () => client.closes.length === 1);
    },
  );
});

describe('the end of a stream', () => {
  test('a refusal by the server arrives as its ServiceError', LIMIT, async () => {
    await using running = await startWorkerServer({
      work: serveFrames(async () => {
        await turn();
        throw new ServiceError('unauthorized');
      }),
    });
    const client = dial(running.address);
    client.connection.send(credits(1));
    await until('the client was notified', () => client.closes.length === 1);
    equal(client.closes[0]?.code, 'unauthorized');
  });

  test('a close by the server comes after everything it sent', LIMIT, async () => {
    const served = new ServedEnds();
    await using running = await startWorkerServer(served);
    const client = dial(running.address);
    const end = await served.first();
    for (let i = 0; i < 1000; i++) end.connection.send(grant(String(i)));
    end.connection.close(new ServiceError('unavailable', 'Draining.'));
    equal(end.connection.closed, true);
    await until('both sides were notified', () => client.closes.length === 1 && end.closes.length === 1);
    equal(client.items.length, 1000);
    equal(client.closes[0]?.message, 'Draining.');
    equal(end.closes[0]?.message, 'Draining.');
  });

  test('a cancelling client ends the stream on the server at once', LIMIT, async () => {
    const served = new ServedEnds();
    await using running = await startWorkerServer(served);
    const client = dial(running.address);
    const end = await served.first();
    client.connection.close(new ServiceError('internal', 'Enough.'));
    await until('both sides were notified', () => client.closes.length === 1 && end.closes.length === 1);
    equal(client.closes[0]?.message, 'Enough.');
  });

  test('a refused connection is reported at once', LIMIT, async () => {
    const running = await startWorkerServer({});
    await running.server.stop();
    const startedAt = performance.now();
    const client = dial(running.address, { connectTimeoutMs: 90_000 });
    client.connection.send(credits(1));
    await until('the client was notified', () => client.closes.length === 1);
    equal(client.closes[0]?.code, 'unavailable');
    ok(performance.now() - startedAt < 60_000, 'it did not wait for the connect time');
  });

  test('a listener that never answers is given up after the connect time', LIMIT, async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await until('the listener is up', () => silent.listening);
    const { port } = silent.address() as { port: number };
    const client = dial(`127.0.0.1:${port}`, { connectTimeoutMs: 100 });
    await until('the client was notified', () => client.closes.length === 1);
    equal(client.closes[0]?.code, 'unavailable');
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test('an exception in onItems closes only that stream and is reported', LIMIT, async () => {
    const fault = new Error('bug');
    const closes: (ServiceError | null)[] = [];
    await using running = await startWorkerServer({
      work: serveFrames(() => ({
        onItems() {
          throw fault;
        },
        onClose: (error) => void closes.push(error),
      })),
    });
    const client = dial(running.address);
    client.connection.send(credits(1));
    await until('both sides were notified', () => client.closes.length === 1 && closes.length === 1);
    equal(client.closes[0]?.code, 'internal');
    equal(closes[0]?.cause, fault);
    equal(running.records.find(({ level }) => level === 'error')?.fields.error, fault);
  });

  test('a peer that does not read is given up at the bound, and its memory released', LIMIT, async () => {
    const served = new ServedEnds();
    await using running = await startWorkerServer(served);
    const reader = new GrpcClient(running.address, credentials.createInsecure());
    const pass = (bytes: Buffer) => bytes;
    const call = reader.makeBidiStreamRequest('/methods.worker.v1.WorkerService/Work', pass, pass);
    let code = -1;
    call.on('error', () => {});
    call.on('status', (received) => {
      code = received.code;
    });
    const end = await served.first();
    let sent = 0;
    while (!end.connection.closed) {
      end.connection.send(grant('x'.repeat(1_000_000)));
      sent++;
      await turn();
    }
    ok(sent >= 60 && sent <= 80, `${sent} MB were taken`);
    await until('the server was notified', () => end.closes.length === 1);
    equal(end.closes[0]?.code, 'unavailable');
    await until('the reader was notified', () => code !== -1);
    reader.close();
    await turn();
    equal(end.closes.length, 1);
  });

  test('a client gives up a server that does not read', LIMIT, async () => {
    await using running = await startWorkerServer({
      work: serveFrames(() => new Promise(() => {})),
    });
    const client = dial(running.address, { bufferedBytesMax: 4_000_000 });
    while (!client.connection.closed) {
      client.connection.send({ item: { case: 'finish', value: { resultJson: 'x'.repeat(500_000) } } });
      await turn();
    }
    await until('the client was notified', () => client.closes.length === 1);
    equal(client.closes[0]?.code, 'unavailable');
  });

  test('a connection cut without notice is noticed by both sides', LIMIT, async () => {
    const served = new ServedEnds();
    await using running = await startWorkerServer(served);
    const pipes: Socket[] = [];
    const relay = createServer((near) => {
      const far = connectTcp(running.server.port, '127.0.0.1');
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) {
        socket.on('error', () => {});
        pipes.push(socket);
      }
    }).listen(0, '127.0.0.1');
    await until('the relay is up', () => relay.listening);
    const { port } = relay.address() as { port: number };
    let opened = false;
    const client = dial(`127.0.0.1:${port}`, {
      onOpen: () => {
        opened = true;
      },
    });
    const end = await served.first();
    await until('the stream is open', () => opened);
    const startedAt = performance.now();
    for (const socket of pipes) socket.unpipe().pause(); // bytes go nowhere and nothing closes
    await until('both sides were notified', () => client.closes.length === 1 && end.closes.length === 1);
    ok(performance.now() - startedAt > 300, 'by keepalive, not by a closed socket');
    deepEqual([client.closes[0]?.code, end.closes[0]?.code], ['unavailable', 'unavailable']);
    for (const socket of pipes) socket.destroy();
    relay.close();
  });

  test('a stream that ends while it is being accepted still reports its end once', LIMIT, async () => {
    const end = new End<WorkerItem>();
    let accept = () => {};
    let accepting: { readonly closed: boolean } | null = null;
    await using running = await startWorkerServer({
      work: serveFrames((connection) => {
        accepting = connection;
        return new Promise((resolve) => {
          accept = () => resolve(end.handlers);
        });
      }),
    });
    const client = dial(running.address);
    await until('the stream is being accepted', () => accepting !== null);
    client.connection.close(new ServiceError('unavailable'));
    await until('the stream has ended', () => accepting?.closed === true);
    accept();
    await until('the server was notified', () => end.closes.length === 1);
  });
});
