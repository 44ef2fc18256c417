import { equal, ok } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { until } from '@methods/test/harness/until';
import { type Client, rpcClient } from './client.ts';
import { frame } from './http2-frame.fixture.ts';

const MIB = 1024 * 1024;
const LIMIT = { timeout: 120_000 };
const WORK = '/methods.worker.v1.WorkerService/Work';
const GET_VERSION = '/methods.worker.v1.WorkerService/GetVersion';

interface Use {
  readonly rss: number;
  readonly cpuMs: number;
}

function message(bytes: Buffer, compressed = false): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(compressed ? 1 : 0, 0);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

/** A call over its own connection whose bytes are sent unchanged; the connection ends with the call. */
async function rawCall(address: string, path: string, headers: Record<string, string>, body: Buffer): Promise<void> {
  const session = connectHttp2(`http://${address}`);
  session.on('error', () => {});
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', ...headers });
  stream.on('error', () => {});
  stream.resume();
  stream.end(body);
  await new Promise((resolve) => stream.once('close', resolve));
  session.destroy();
}

/** HTTP/2 by hand: the preface and then frames. */
async function rawConnection(address: string): Promise<Socket> {
  const socket = connectTcp(Number(address.split(':')[1]), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.resume();
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(4, 0, 0));
  return socket;
}

describe('an attacked server', () => {
  let child: ChildProcess;
  let address: string;
  let other: Client<typeof WorkerService>;
  let drops = 0;

  before(async () => {
    child = spawn(process.execPath, nodeArguments(new URL('./attacked-server.fixture.ts', import.meta.url)), {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
    [{ address }] = (await once(child, 'message')) as [{ address: string }];
    other = rpcClient(WorkerService, address, { metadata: () => ({ authorization: 'org_b/key_b' }) });
    for (let i = 0; i < 50; i++) await other.getVersion({ method: 'wf_warm' });
  });
  after(() => {
    other.close();
    child.disconnect();
  });

  async function use(): Promise<Use> {
    const reply = once(child, 'message');
    child.send('use');
    return (await reply)[0] as Use;
  }

  /** A loaded machine may take the second after which keepalive drops the connection: the next call has a new one. */
  async function callBeside() {
    try {
      return await other.getVersion({ method: 'wf_beside' });
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'unavailable' || ++drops > 3) throw error;
      return await other.getVersion({ method: 'wf_beside' });
    }
  }

  /** The cost of the attack for the server; another organization's calls continue beside it and all succeed. */
  async function costOf(attack: () => Promise<unknown>): Promise<Use> {
    const start = await use();
    let attacking = true;
    let calls = 0;
    let rss = 0;
    const beside = (async () => {
      do {
        equal((await callBeside()).method, 'wf_beside');
        if (calls++ % 20 === 0) rss = Math.max(rss, (await use()).rss);
      } while (attacking);
    })();
    await attack();
    attacking = false;
    await beside;
    const end = await use();
    return { rss: Math.max(rss, end.rss) - start.rss, cpuMs: end.cpuMs - start.cpuMs };
  }

  const many = (count: number, work: (i: number) => Promise<unknown>) =>
    Promise.all(Array.from({ length: count }, (_, i) => work(i)));

  test('does not unpack what strangers compress', LIMIT, async () => {
    // 4 MiB of unknown two-byte fields in 4 KB.
    const bomb = message(gzipSync(Buffer.alloc(4 * MIB, Buffer.of(0x78, 0x01))), true);
    ok(bomb.length < 10_000);
    const { rss, cpuMs } = await costOf(() =>
      many(40, () => rawCall(address, GET_VERSION, { 'grpc-encoding': 'gzip' }, bomb)),
    );
    ok(rss < 64 * MIB && cpuMs < 4_000, `${rss} bytes, ${cpuMs} ms`);
  });

  test('makes no objects of two-byte items, fields or frames of a caller with a key', LIMIT, async () => {
    const items = message(Buffer.alloc(4 * MIB - 16, Buffer.of(0x0a, 0x00)));
    const fields = message(Buffer.alloc(4 * MIB - 16, Buffer.of(0x78, 0x01)));
    const frames = Buffer.alloc(MIB, message(Buffer.alloc(0)));
    const key = { authorization: 'org_a/key_a' };
    const { rss, cpuMs } = await costOf(() =>
      many(12, (i) => rawCall(address, WORK, key, [items, fields, frames][i % 3] ?? items)),
    );
    ok(rss < 128 * MIB && cpuMs < 6_000, `${rss} bytes, ${cpuMs} ms`);
  });

  test('survives resets, pings, settings and headers without end', LIMIT, async () => {
    const { rss, cpuMs } = await costOf(async () => {
      const sockets = await many(8, () => rawConnection(address));
      for (const [i, socket] of (sockets as Socket[]).entries()) {
        const flood = [
          frame(6, 0, 0, Buffer.alloc(8)),
          frame(4, 0, 0),
          // An incomplete header block and endless continuations.
          frame(9, 0, 1, Buffer.alloc(1_000, 0x82)),
        ][i % 3] as Buffer;
        if (i % 3 === 2) socket.write(frame(1, 0, 1, Buffer.of(0x82)));
        for (let n = 0; n < 3_000 && !socket.destroyed; n++) {
          socket.write(flood);
          if (n % 50 === 0) await turn();
        }
      }
      const session = connectHttp2(`http://${address}`);
      session.on('error', () => {});
      for (let n = 0; n < 2_000 && !session.destroyed; n++) {
        const stream = session.request({ ':method': 'POST', ':path': WORK, 'content-type': 'application/grpc' });
        stream.on('error', () => {});
        stream.close(8);
        // This process makes calls of its own meanwhile.
        if (n % 20 === 0) await turn();
      }
      await until('the connections without a credential are cut', () => (sockets as Socket[]).every((s) => s.closed));
      session.destroy();
    });
    ok(rss < 64 * MIB && cpuMs < 8_000, `${rss} bytes, ${cpuMs} ms`);
  });

  test('closes silent connections, and holds little for them', LIMIT, async () => {
    const { rss } = await costOf(async () => {
      const sockets = (await many(300, () => rawConnection(address))) as Socket[];
      await until('all are cut', () => sockets.every(({ closed }) => closed));
    });
    ok(rss < 64 * MIB, `${rss} bytes`);
  });
});
