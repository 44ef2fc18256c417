import { equal, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { credentials, Client as GrpcClient, type Metadata, type MethodDefinition, status } from '@grpc/grpc-js';
import { systemClock } from '@methods/base/clock';
import type { KeyId, OrgId, ProductionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { until } from '@methods/test/harness/until';
import { service as healthService } from 'grpc-health-check';
import type { Admission } from './call-admission.ts';
import { rpcClient } from './client.ts';
import { frame } from './http2-frame.fixture.ts';
import { startWorkerServer } from './worker-server.fixture.ts';

const LIMIT = { timeout: 120_000 };

/** Admits callers that name an organization and a key, as `org/key`. */
function admission(limits: Partial<Admission> = {}): Admission {
  return {
    async ownerOf(metadata: Metadata) {
      const [orgId, keyId] = String(metadata.get('authorization')[0] ?? '').split('/') as [OrgId | '', KeyId];
      if (orgId === '') throw new ServiceError('unauthorized');
      return { orgId, keyId };
    },
    callsMax: 100,
    callsPerOrganizationMax: 100,
    seldomPath: '',
    lookupsPerAddressMax: 64,
    ...limits,
  };
}

const clientOf = (address: string, authorization: string) =>
  rpcClient(WorkerService, address, { metadata: () => ({ authorization }) });

/** Sends a call's bytes unchanged; returns its status. */
function sendBytes(address: string, bytes: Buffer): Promise<number> {
  const client = new GrpcClient(address, credentials.createInsecure());
  const pass = (buffer: Buffer) => buffer;
  return new Promise((resolve) => {
    client.makeUnaryRequest('/methods.worker.v1.WorkerService/GetVersion', pass, pass, bytes, (error) => {
      client.close();
      resolve(error?.code ?? status.OK);
    });
  });
}

async function guest(address: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const [host, port] = address.split(':');
  const socket = connectTcp({ host, port: Number(port), localAddress });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.resume();
  return socket;
}

describe('a call without a credential', () => {
  test('is refused before its message is read', LIMIT, async () => {
    let handled = 0;
    const handlers = {
      getVersion: async () => {
        handled++;
        return {};
      },
    };
    await using running = await startWorkerServer(handlers, { admission: admission() });
    // No decoder would take these.
    equal(await sendBytes(running.address, Buffer.alloc(60_000, 0xff)), status.UNAUTHENTICATED);
    equal(handled, 0);
    const client = clientOf(running.address, 'org_a/key_a');
    await client.getVersion({});
    equal(handled, 1);
    client.close();
  });

  test(
    'holds no handler while its key is looked up, and few of one address are looked up at a time',
    LIMIT,
    async () => {
      const waiting: ((error: Error) => void)[] = [];
      const ownerOf = () => new Promise<never>((_, reject) => waiting.push(reject));
      await using running = await startWorkerServer({}, { admission: admission({ ownerOf, lookupsPerAddressMax: 2 }) });
      const client = clientOf(running.address, 'org_a/key_a');
      const calls = [client.getVersion({}), client.getVersion({}), client.getVersion({})];
      const outcomes = Promise.allSettled(calls);
      await until('two are looked up', () => waiting.length === 2);
      await rejects(calls[2] as Promise<unknown>, {
        code: 'rate_limited',
        facts: { share: 'organization', limit: '2' },
      });
      for (const reject of waiting) reject(new ServiceError('unauthorized'));
      await outcomes;
      client.close();
    },
  );
});

describe('shares of calls', () => {
  test('an organization whose calls hang is refused more; another one continues', LIMIT, async () => {
    let release = () => {};
    const hanging = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = 0;
    const getVersion = async ({ method }: { method: string }) => {
      begun++;
      if (method === 'wf_hang') await hanging;
      return {};
    };
    const limits = admission({ callsMax: 100, callsPerOrganizationMax: 5 });
    await using running = await startWorkerServer({ getVersion }, { admission: limits });
    const greedy = clientOf(running.address, 'org_a/key_a');
    const calls = Array.from({ length: 5 }, () => greedy.getVersion({ method: 'wf_hang' }));
    await until('five hang', () => begun === 5);
    await rejects(greedy.getVersion({}), { code: 'rate_limited', facts: { share: 'organization', limit: '5' } });
    const other = clientOf(running.address, 'org_b/key_b');
    for (let i = 0; i < 20; i++) await other.getVersion({});
    release();
    await Promise.all(calls);
    await until('the places are free', () =>
      greedy.getVersion({}).then(
        () => true,
        () => false,
      ),
    );
    greedy.close();
    other.close();
  });
});

describe('sizes of requests', () => {
  test('a request beyond its method’s bound fails, and the connection stays open', LIMIT, async () => {
    await using running = await startWorkerServer({ getVersion: async () => ({}) });
    const client = rpcClient(WorkerService, running.address);
    await rejects(client.getVersion({ method: 'x'.repeat(70_000) as ProductionId }), { code: 'too_large' });
    await client.getVersion({ method: 'x'.repeat(60_000) as ProductionId });
    client.close();
  });
});

describe('connections', () => {
  test('one without an admitted call is always cut; one with a call stays', LIMIT, async () => {
    const options = { admission: admission(), admitMs: 2_000 };
    await using running = await startWorkerServer({ getVersion: async () => ({}) }, options);
    const client = clientOf(running.address, 'org_a/key_a');
    await client.getVersion({});
    const silent = await guest(running.address);
    const health = new GrpcClient(running.address, credentials.createInsecure());
    const asked = new Promise<number | undefined>((resolve) => {
      const { path, requestSerialize, responseDeserialize } = healthService.Check as MethodDefinition<object, object>;
      const request = { service: '' };
      health.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error) => resolve(error?.code));
    });
    equal(await asked, undefined);
    const cut = new Promise((resolve) => silent.once('close', resolve));
    await cut;
    const { door } = running.server as unknown as { door: { readonly open: number } };
    await until('only the admitted one is left', () => door.open === 1);
    await client.getVersion({});
    client.close();
    health.close();
  });

  test('an address that fills its share keeps no other out', LIMIT, async () => {
    const options = { connectionsMax: 10, admission: admission() };
    await using running = await startWorkerServer({ getVersion: async () => ({}) }, options);
    const greedy = await Promise.all(Array.from({ length: 30 }, () => guest(running.address, '127.0.0.2')));
    await until('most are turned away', () => greedy.filter(({ closed }) => closed).length === 25);
    const client = clientOf(running.address, 'org_a/key_a');
    await client.getVersion({});
    equal(greedy.filter(({ closed }) => !closed).length, 5);
    for (const socket of greedy) socket.destroy();
    client.close();
  });
});

describe('a client that comes too fast', () => {
  /** Held replies stay held. */
  function holdingClock() {
    const held: (() => void)[] = [];
    const clock = {
      ...systemClock,
      monotonicMs: () => 0,
      after(_delayMs: number, run: () => void) {
        held.push(run);
        return { cancel() {} };
      },
    };
    return { held, clock };
  }

  test('gets refusals late from the hundredth on, and an admitted client beside it does not wait', LIMIT, async () => {
    const { held, clock } = holdingClock();
    const handlers = { getVersion: async () => ({}) };
    await using running = await startWorkerServer(handlers, { admission: admission(), clock });
    const stranger = clientOf(running.address, '');
    const calls = Array.from({ length: 102 }, () => stranger.getVersion({}).catch(() => 'refused'));
    await until('two refusals are held back', () => held.length === 2);
    const client = clientOf(running.address, 'org_a/key_a');
    await client.getVersion({});
    for (const go of held) go();
    equal((await Promise.all(calls)).length, 102);
    client.close();
    stranger.close();
  });

  test('waits to open rare streams, and calls as before', LIMIT, async () => {
    const { held, clock } = holdingClock();
    const seldomPath = '/methods.worker.v1.WorkerService/GetVersion';
    const many = { callsMax: 1_000, callsPerOrganizationMax: 1_000 };
    const handlers = { getVersion: async () => ({}), putLock: async () => ({}) };
    await using running = await startWorkerServer(handlers, { admission: admission({ seldomPath, ...many }), clock });
    const client = clientOf(running.address, 'org_a/key_a');
    const calls = Array.from({ length: 101 }, () => client.getVersion({}));
    await until('one is held back', () => held.length === 1);
    await client.putLock({});
    const other = clientOf(running.address, 'org_a/key_b');
    await other.getVersion({});
    held[0]?.();
    equal((await Promise.all(calls)).length, 101);
    client.close();
    other.close();
  });
});

describe('a packet of calls that are reset at once', () => {
  /** Entered into the table of headers: index 62 of those that follow. */
  const header = (name: string, value: string) =>
    Buffer.concat([Buffer.of(0x40, name.length), Buffer.from(name), Buffer.of(value.length), Buffer.from(value)]);
  const POST_HTTP = Buffer.of(0x83, 0x86);
  const FIRST = Buffer.concat([
    POST_HTTP,
    header(':path', '/methods.worker.v1.WorkerService/Work'),
    header(':authority', 'a'),
    header('content-type', 'application/grpc'),
  ]);
  const AGAIN = Buffer.concat([POST_HTTP, Buffer.of(0x80 | 64, 0x80 | 63, 0x80 | 62)]);

  test('closes its connection when they are more than may be open, and is read no further', LIMIT, async () => {
    let admitted = 0;
    const ownerOf = async () => {
      admitted++;
      return { orgId: 'org_a' as const, keyId: 'key_a' as const };
    };
    const options = { admission: admission({ ownerOf }), streamsPerConnectionMax: 16, admitMs: 1_000_000 };
    await using running = await startWorkerServer({}, options);
    const packet = (calls: number) => {
      const bytes = [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)];
      for (let id = 1; id < 2 * calls; id += 2) {
        bytes.push(frame(1, 4, id, id === 1 ? FIRST : AGAIN), frame(3, 0, id, Buffer.of(0, 0, 0, 8)));
      }
      // This one is not reset.
      bytes.push(frame(1, 4, 2 * calls + 1, AGAIN));
      return Buffer.concat(bytes);
    };
    const polite = await guest(running.address);
    polite.write(packet(15));
    await until('its calls are let in', () => admitted === 16);
    const rude = await guest(running.address);
    rude.write(packet(500));
    await once(rude, 'close');
    equal(admitted - 16 <= 17, true);
    equal(polite.closed, false);
    polite.destroy();
  });
});
