import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { credentials, Client as GrpcClient } from '@grpc/grpc-js';
import { newRunId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { type WorkerItem, WorkerService, WorkRequestSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { serveFrames } from '@methods/rpc/frame-stream';
import { RpcServer, served } from '@methods/rpc/server';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { until } from '@methods/test/harness/until';
import { type SchedulerItem, WorkerSession, type WorkerSessionHost } from '../worker-stream/worker-session.ts';
import { WORKER_ELEMENTS_MAX } from './worker-service.ts';

const FRAMES = 1_500;
const SEED = 20_260_714;

/** Mulberry32: gives the same mutations each time. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const held = [{ runId: newRunId(3), token: 'token' }];
const hello = {
  case: 'hello' as const,
  value: { workerId: 'a'.repeat(32), streamNumber: 1, methods: ['wf_1' as const], slots: 2, held },
};
const [run] = held;
const valid = [
  [{ item: hello }],
  [{ item: hello }, { item: { case: 'credits' as const, value: { count: 2 } } }],
  [{ item: hello }, { item: { case: 'heartbeat' as const, value: { runs: held } } }],
  [{ item: hello }, { item: { case: 'finish' as const, value: { ...run, seq: 3 } } }],
  [{ item: hello }, { item: { case: 'giveBack' as const, value: { ...run, reason: 'drain' } } }],
  [{ item: hello }, { item: { case: 'leave' as const, value: {} } }],
].map((items) => Buffer.from(toBinary(WorkRequestSchema, create(WorkRequestSchema, { items }))));

function mutated(random: () => number): Buffer {
  const below = (n: number) => Math.floor(random() * n);
  let bytes = Buffer.from(valid[below(valid.length)] ?? []);
  for (let i = below(4); i > 0; i--) {
    const at = below(bytes.length);
    const kind = below(6);
    if (kind === 0) bytes[at] = below(256);
    else if (kind === 1) bytes = bytes.subarray(0, at + 1);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes, bytes.subarray(at)]);
    else if (kind === 3) bytes = Buffer.concat([bytes, Buffer.alloc(below(200), below(256))]);
    else if (kind === 4)
      bytes = Buffer.concat([bytes.subarray(0, at), Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f), bytes.subarray(at)]);
    else bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + 1 + below(8)))]);
    if (bytes.length === 0) bytes = Buffer.of(0);
  }
  return Buffer.from(bytes);
}

test('arbitrary bytes on a worker’s stream end at most that stream', { timeout: 300_000 }, async () => {
  let opened = 0;
  let heard = 0;
  const texts = (value: object): boolean => Object.values(value).every((each) => each !== undefined);
  const host: WorkerSessionHost = {
    admit: () => () => {},
    opened: () => void opened++,
    closed() {},
    credits: (_session, count) => assert.ok(count > 0 && count <= 10_000),
    leaving() {},
    report(_session, { value }) {
      heard++;
      assert.ok(typeof value.runId === 'string' && typeof value.token === 'string' && texts(value));
    },
    heartbeat: (_session, runs) => assert.ok(runs.length <= 30_100),
  };
  const key = { orgId: 'org_a' as const, keyId: 'key_a' as const };
  const owner = { ...key, check: async () => key, askAgain: async () => key };
  let streams = 0;
  const handlers = {
    work: serveFrames<WorkerItem, SchedulerItem>((connection) => {
      streams++;
      const session = new WorkerSession(connection, owner, host);
      return { onItems: (items) => session.received(items), onClose: () => void streams-- };
    }),
    getVersion: async () => ({}),
  } as unknown as ServiceImplementation<typeof WorkerService>;
  const services = [served(WorkerService, handlers)];
  const server = new RpcServer({
    listen: '127.0.0.1:0',
    services,
    logger: silentLogger,
    graceMs: 0,
    elementsMax: WORKER_ELEMENTS_MAX,
  });
  await server.start();
  const client = new GrpcClient(`127.0.0.1:${server.port}`, credentials.createInsecure());
  const pass = (bytes: Buffer) => bytes;
  const random = randomFrom(SEED);
  const cpu = process.cpuUsage();
  let ended = 0;
  for (let sent = 0; sent < FRAMES; ) {
    const target = ended + 50;
    for (let i = 0; i < 50; i++) {
      const call = client.makeBidiStreamRequest('/methods.worker.v1.WorkerService/Work', pass, pass);
      call.on('error', () => {});
      call.on('status', () => ended++);
      call.resume();
      for (let frame = 0; frame < 3; frame++, sent++) call.write(mutated(random));
      call.end();
    }
    await until('the streams have ended', () => ended === target);
  }
  const { user, system } = process.cpuUsage(cpu);
  // Some are still valid, most are not.
  assert.ok(opened > 0 && heard > 0 && opened < FRAMES);
  assert.ok((user + system) / 1_000 / FRAMES < 20, 'no frame costs much');
  await until('no session is left', () => streams === 0);
  client.close();
  await server.stop();
});
