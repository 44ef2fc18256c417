import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { connect } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { credentials, Client as GrpcClient, Metadata, status } from '@grpc/grpc-js';
import { ServiceError } from '@methods/errors/service-error';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { until } from '@methods/test/harness/until';
import { rpcClient } from './client.ts';
import type { CallContext } from './service-definition.ts';
import { startWorkerServer } from './worker-server.fixture.ts';

const LIMIT = { timeout: 120_000 };

describe('a unary call', () => {
  test('carries its request, metadata and reply', LIMIT, async () => {
    await using running = await startWorkerServer({
      getVersion: async (request, { metadata, deadlineMs, peer }) => {
        ok(deadlineMs > Date.now() && deadlineMs <= Date.now() + 10_000);
        ok(peer.startsWith('127.0.0.1:'));
        return {
          method: request.method,
          versionId: `ver_${metadata.get('x-request-id')[0]}` as const,
          source: Buffer.from('é'),
        };
      },
    });
    const client = rpcClient(WorkerService, running.address);
    const reply = await client.getVersion({ method: 'wf_1' }, { metadata: { 'x-request-id': 'req_1' } });
    equal(reply.method, 'wf_1');
    equal(reply.versionId, 'ver_req_1');
    equal(Buffer.from(reply.source).toString(), 'é');
    client.close();
    const [record] = running.records;
    equal(record?.level, 'debug');
    deepEqual(
      [record?.fields.rpc, record?.fields.code, record?.fields.request_id],
      ['/methods.worker.v1.WorkerService/GetVersion', 'ok', 'req_1'],
    );
  });

  test('an error comes back with its code, findings, facts and wait', LIMIT, async () => {
    const thrown = new ServiceError('invalid_method', 'Line 3 is not right.', {
      findings: [{ path: '/steps/0', code: 'M101', message: 'Unknown field ☃.', line: 3, column: 5, hint: 'see docs' }],
      facts: { current_version: 'ver_1' },
      retryAfterMs: 1500,
    });
    await using running = await startWorkerServer({ getVersion: async () => Promise.reject(thrown) });
    const client = rpcClient(WorkerService, running.address);
    await rejects(client.getVersion({}), (error: unknown) => {
      ok(error instanceof ServiceError);
      equal(error.code, 'invalid_method');
      equal(error.message, 'Line 3 is not right.');
      deepEqual(error.findings, thrown.findings);
      deepEqual(error.facts, thrown.facts);
      equal(error.retryAfterMs, 1500);
      return true;
    });
    client.close();
    equal(running.records[0]?.level, 'info');
  });

  test('an unknown error becomes internal without details', LIMIT, async () => {
    const cause = new Error('password hunter2');
    await using running = await startWorkerServer({ getVersion: async () => Promise.reject(cause) });
    const client = new GrpcClient(running.address, credentials.createInsecure());
    const error = await new Promise<{ code: number; details: string; metadata: Metadata }>((resolve) => {
      const pass = (bytes: Buffer) => bytes;
      client.makeUnaryRequest('/methods.worker.v1.WorkerService/GetVersion', pass, pass, Buffer.alloc(0), (failure) =>
        resolve(failure as never),
      );
    });
    client.close();
    equal(error.code, status.INTERNAL);
    ok(!JSON.stringify([error.details, error.metadata.toJSON()]).includes('hunter2'));
    ok(!Buffer.concat(error.metadata.get('methods-error-bin') as Buffer[]).includes('hunter2'));
    equal(running.records[0]?.level, 'error');
    equal(running.records[0]?.fields.error, cause);
  });

  test('ends at its deadline and aborts the handler', LIMIT, async () => {
    let aborted = false;
    await using running = await startWorkerServer({
      getVersion: (_request, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            resolve({});
          });
        }),
    });
    const client = rpcClient(WorkerService, running.address);
    await rejects(client.getVersion({}, { timeoutMs: 100 }), { name: 'ServiceError', code: 'unavailable' });
    await until('the handler was aborted', () => aborted);
    client.close();
  });

  test('ends with its signal, and with the call it was made for', LIMIT, async () => {
    const contexts: CallContext[] = [];
    await using running = await startWorkerServer({
      getVersion: (_request, context) => new Promise(() => void contexts.push(context)),
    });
    const client = rpcClient(WorkerService, running.address);
    const own = new AbortController();
    const parent = new AbortController();
    const deadlineMs = Date.now() + 60_000;
    const calls = [
      client.getVersion({}, { signal: own.signal }),
      client.getVersion({}, { parent: { signal: parent.signal, deadlineMs }, timeoutMs: 120_000 }),
    ];
    const refused = Promise.all(calls.map((call) => rejects(call, { code: 'unavailable' })));
    await until('both calls have begun', () => contexts.length === 2);
    ok(
      contexts.every((context) => context.deadlineMs < deadlineMs - 10),
      'the hop leaves its caller time',
    );
    own.abort();
    parent.abort();
    await refused;
    await until('both handlers were aborted', () => contexts.every(({ signal }) => signal.aborted));
    client.close();
  });

  test('a call whose time is up does not begin', LIMIT, async () => {
    await using running = await startWorkerServer({});
    const client = rpcClient(WorkerService, running.address);
    const parent = { deadlineMs: Date.now() + 5, signal: new AbortController().signal };
    await rejects(client.getVersion({}, { parent }), { code: 'unavailable' });
    equal(running.records.length, 0);
    client.close();
  });

  test('a compressed message is refused and not unpacked', LIMIT, async () => {
    await using running = await startWorkerServer({});
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    ok(bomb.length < 100_000);
    equal(await sendCompressed(running.address, bomb), status.UNIMPLEMENTED);
  });

  test('a message beyond 4 MiB is refused', LIMIT, async () => {
    await using running = await startWorkerServer({});
    const client = rpcClient(WorkerService, running.address);
    await rejects(client.putLock({ lock: Buffer.alloc(5 * 1024 * 1024) }), { code: 'too_large' });
    client.close();
  });

  test('fails at once while no server listens, and works again soon after one does', LIMIT, async () => {
    const first = await startWorkerServer({ getVersion: async () => ({}) });
    const client = rpcClient(WorkerService, first.address);
    await client.getVersion({});
    await first.server.stop();
    const startedAt = performance.now();
    await rejects(client.getVersion({}, { timeoutMs: 100_000 }), { code: 'unavailable' });
    ok(performance.now() - startedAt < 30_000);
    await using _again = await startWorkerServer({ getVersion: async () => ({}) }, { listen: first.address });
    let answered = false;
    while (!answered) {
      answered = await client.getVersion({}).then(
        () => true,
        () => new Promise<boolean>((resolve) => setTimeout(resolve, 20, false)),
      );
    }
    client.close();
  });
});

describe('streams of messages', () => {
  async function* chunks(count: number) {
    for (let i = 0; i < count; i++) yield { chunk: Buffer.from([i & 255]) };
  }

  test('every message of 10,007 arrives, from either side', LIMIT, async () => {
    await using running = await startWorkerServer({
      putRunFolder: async (requests) => {
        let count = 0;
        for await (const _ of requests) count++;
        return { folderId: `fld_${count}` as const };
      },
      getRunFolder: () => chunks(10_007),
    });
    const client = rpcClient(WorkerService, running.address);
    equal((await client.putRunFolder(chunks(10_007))).folderId, 'fld_10007');
    let received = 0;
    for await (const _ of client.getRunFolder({})) received++;
    equal(received, 10_007);
    client.close();
  });

  test('leaving a loop early cancels the call on the server', LIMIT, async () => {
    let ended = false;
    await using running = await startWorkerServer({
      async *getRunFolder() {
        try {
          for (;;) yield { chunk: Buffer.alloc(1000) };
        } finally {
          ended = true;
        }
      },
    });
    const client = rpcClient(WorkerService, running.address);
    for await (const _ of client.getRunFolder({})) break;
    await until('the handler has ended', () => ended);
    client.close();
  });

  test('an error in the middle arrives after the messages before it', LIMIT, async () => {
    await using running = await startWorkerServer({
      async *getRunFolder() {
        yield* chunks(100);
        throw new ServiceError('not_found', undefined, { facts: { part: '100' } });
      },
    });
    const client = rpcClient(WorkerService, running.address);
    let received = 0;
    await rejects(
      async () => {
        for await (const _ of client.getRunFolder({})) received++;
      },
      { code: 'not_found', facts: { part: '100' } },
    );
    equal(received, 100);
    client.close();
  });

  test('a refusal before all requests are read ends the upload', LIMIT, async () => {
    let ended = false;
    async function* endless() {
      try {
        for (;;) yield { chunk: Buffer.alloc(64 * 1024) };
      } finally {
        ended = true;
      }
    }
    await using running = await startWorkerServer({
      putRunFolder: async (requests) => {
        for await (const _ of requests) throw new ServiceError('too_large');
        return {};
      },
    });
    const client = rpcClient(WorkerService, running.address);
    await rejects(client.putRunFolder(endless()), { code: 'too_large' });
    await until('the source was left', () => ended);
    client.close();
  });

  test("an upload whose own source fails rejects with that source's error and ends the handler", LIMIT, async () => {
    const seen: unknown[] = [];
    await using running = await startWorkerServer({ putRunFolder: recordingUpload(seen) });
    const client = rpcClient(WorkerService, running.address);
    async function* broken() {
      yield { chunk: Buffer.alloc(1) };
      await until('a chunk has arrived', () => seen.length === 1);
      throw new Error('disk');
    }
    await rejects(client.putRunFolder(broken()), /disk/);
    await until('the upload has ended', () => seen.length === 2);
    client.close();
  });

  for (const [what, cut] of [
    // By hand, since Node sends an end before its reset when it likes.
    ['is reset', ({ socket }: RawCall) => socket.write(RESET)],
    ['is ended and reset in one packet', ({ socket }: RawCall) => socket.write(Buffer.concat([END, RESET]))],
    ['loses its connection', ({ socket }: RawCall) => socket.destroy()],
  ] as const) {
    test(`an upload that ${what} does not look complete`, LIMIT, async () => {
      const seen: unknown[] = [];
      await using running = await startWorkerServer({ putRunFolder: recordingUpload(seen) });
      const call = rawCall(running.address, 'PutRunFolder');
      call.stream.on('error', () => {});
      call.stream.write(Buffer.alloc(5)); // an empty message
      await until('a chunk has arrived', () => seen.length === 1);
      cut(call);
      await until('the upload has ended', () => seen.length === 2);
      ok(seen[1] instanceof ServiceError, String(seen[1]));
      equal(seen[1].code, 'unavailable');
      call.session.destroy();
    });
  }
});

/** Takes an upload and notes each chunk, and then how the requests ended. */
function recordingUpload(seen: unknown[]) {
  return async (requests: AsyncIterable<unknown>) => {
    try {
      for await (const _ of requests) seen.push('chunk');
      seen.push('complete');
    } catch (error) {
      seen.push(error);
    }
    return {};
  };
}

// HTTP/2 frames of a session's first stream: an empty DATA with END_STREAM, and RST_STREAM with CANCEL.
const END = Buffer.from('000000000100000001', 'hex');
const RESET = Buffer.from('00000403000000000100000008', 'hex');

type RawCall = ReturnType<typeof rawCall>;

function rawCall(address: string, method: string, headers: Record<string, string> = {}) {
  const socket = connectTcp(Number(address.split(':')[1]), '127.0.0.1');
  const session = connect(`http://${address}`, { createConnection: () => socket });
  session.on('error', () => {});
  const stream = session.request({
    ':method': 'POST',
    ':path': `/methods.worker.v1.WorkerService/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  return { socket, session, stream };
}

// grpc-js never compresses messages here, so this one is built by hand.
async function sendCompressed(address: string, compressed: Buffer): Promise<number> {
  const { session, stream } = rawCall(address, 'GetVersion', { 'grpc-encoding': 'gzip' });
  const code = new Promise<number>((resolve) => {
    const read = (headers: Record<string, unknown>) => {
      if (headers['grpc-status'] !== undefined) resolve(Number(headers['grpc-status']));
    };
    stream.on('response', read);
    stream.on('trailers', read);
  });
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(1, 0);
  prefix.writeUInt32BE(compressed.length, 1);
  stream.end(Buffer.concat([prefix, compressed]));
  try {
    return await code;
  } finally {
    session.destroy();
  }
}
