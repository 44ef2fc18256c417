import { equal, ok, rejects } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, describe, test } from 'node:test';
import { credentials, Client as GrpcClient } from '@grpc/grpc-js';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { programArguments } from '@methods/test/harness/program-arguments';
import { until } from '@methods/test/harness/until';
import { service as healthService } from 'grpc-health-check';
import { rpcClient } from './client.ts';
import { dialFrames, serveFrames } from './frame-stream.ts';
import { canConnect } from './probe.ts';
import { startWorkerServer } from './worker-server.fixture.ts';

const SERVER = new URL('./worker-server.fixture.ts', import.meta.url);
const LIMIT = { timeout: 120_000 };
const BEFORE_KEEPALIVE_MS = 900;

describe('health', () => {
  test(
    'reports the state of setServing, for the server and each service, while calls are answered',
    LIMIT,
    async () => {
      await using running = await startWorkerServer({ getVersion: async () => ({}) });
      const client = rpcClient(WorkerService, running.address);
      for (const service of ['', 'methods.worker.v1.WorkerService']) {
        running.server.setServing(true);
        equal(await healthOf(running.address, service), 'SERVING');
        running.server.setServing(false);
        equal(await healthOf(running.address, service), 'NOT_SERVING');
      }
      await client.getVersion({});
      client.close();
    },
  );

  test('a server may start as not serving', LIMIT, async () => {
    await using running = await startWorkerServer({}, { serving: false });
    equal(await healthOf(running.address, ''), 'NOT_SERVING');
  });
});

describe('stop', () => {
  test('lets a call under way finish, refuses new connections and ends streams of frames', LIMIT, async () => {
    let finish = () => {};
    let streams = 0;
    const running = await startWorkerServer(
      {
        getVersion: () =>
          new Promise((resolve) => {
            finish = () => resolve({ method: 'wf_done' });
          }),
        work: serveFrames(() => {
          streams++;
          return { onItems() {}, onClose() {} };
        }),
      },
      { graceMs: 20_000 },
    );
    const client = rpcClient(WorkerService, running.address);
    const reply = client.getVersion({});
    const closes: (string | undefined)[] = [];
    dialFrames(WorkerService.method.work, running.address, {
      onItems() {},
      onClose: (error) => void closes.push(error?.message),
    });
    await until('a stream is open', () => streams === 1 && running.records.length === 0);
    let stopped = false;
    const stopping = running.server.stop().then(() => {
      stopped = true;
    });
    await until('the stream has ended', () => closes.length === 1);
    equal(closes[0], 'This node is stopping.');
    equal(await canConnect(running.address, 1_000), 'refused');
    equal(stopped, false);
    finish();
    equal((await reply).method, 'wf_done');
    await stopping;
    client.close();
  });

  test('ends calls that are not done within the grace period', LIMIT, async () => {
    let asked = false;
    const running = await startWorkerServer(
      {
        getVersion: () => {
          asked = true;
          return new Promise(() => {});
        },
      },
      { graceMs: 50 },
    );
    const client = rpcClient(WorkerService, running.address);
    const refused = rejects(client.getVersion({}), { code: 'unavailable' });
    await until('the call has begun', () => asked);
    await running.server.stop();
    await refused;
    client.close();
  });

  test('an address that is taken fails the start', LIMIT, async () => {
    await using running = await startWorkerServer({});
    await rejects(startWorkerServer({}, { listen: running.address }), /EADDRINUSE|No address added/);
  });
});

describe('a server process', () => {
  const children: { kill(signal: NodeJS.Signals): boolean }[] = [];
  after(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  async function startProcess() {
    const program = `
      import { startWorkerServer } from ${JSON.stringify(SERVER.href)};
      console.log((await startWorkerServer({})).address);`;
    const child = spawn(process.execPath, programArguments(program, SERVER), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    for await (const address of createInterface({ input: child.stdout })) return { child, address };
    throw new Error('the server process did not start');
  }

  async function connectTo(address: string) {
    const closes: (string | undefined)[] = [];
    let opened = false;
    dialFrames(WorkerService.method.work, address, {
      onItems() {},
      onOpen: () => {
        opened = true;
      },
      onClose: (error) => void closes.push(error?.code),
    });
    await until('the stream is open', () => opened);
    return closes;
  }

  test('that is killed closes its streams at once', LIMIT, async () => {
    let leastMs = Number.POSITIVE_INFINITY;
    // Again where the machine was busy with something else.
    for (let tried = 0; tried < 10 && leastMs >= BEFORE_KEEPALIVE_MS; tried++) {
      const { child, address } = await startProcess();
      const closes = await connectTo(address);
      const startedAt = performance.now();
      child.kill('SIGKILL');
      await until('the stream has ended', () => closes.length === 1);
      leastMs = Math.min(leastMs, performance.now() - startedAt);
      equal(closes[0], 'unavailable');
      // The kernel closes a killed process's connections one by one; its listening one may be the last.
      while ((await canConnect(address, 1_000)) !== 'refused');
    }
    ok(leastMs < BEFORE_KEEPALIVE_MS, `${leastMs} ms`);
  });

  test('that is frozen is noticed by keepalive', LIMIT, async () => {
    const { child, address } = await startProcess();
    const closes = await connectTo(address);
    child.kill('SIGSTOP');
    const startedAt = performance.now();
    await until('the stream has ended', () => closes.length === 1);
    ok(performance.now() - startedAt < 30_000);
    equal(closes[0], 'unavailable');
    equal(await canConnect(address, 1_000), 'open');
  });
});

function healthOf(address: string, service: string): Promise<string> {
  const client = new GrpcClient(address, credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = healthService.Check as (typeof healthService)[string];
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service }, (error, reply) => {
      client.close();
      if (error) reject(error);
      else resolve((reply as { status: string }).status);
    });
  });
}
