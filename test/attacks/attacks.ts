// What one organization, or a stranger, may try against a service that others share. Each goes on until it is stopped.
import { randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:http2';
import { createServiceKey } from '@methods/auth/service-key';
import { newId } from '@methods/base/ids';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { dialFrames } from '@methods/rpc/frame-stream';

export interface AttackTarget {
  readonly baseUrl: string;
  /** Of a run-scheduler, for workers: host:port. */
  readonly workerAddress: string;
  /** Of the attacker's organization. */
  readonly key: string;
  /** Of a person of it. */
  readonly token: string;
  readonly method: string;
  /** Accepts connections and never replies. */
  readonly silentUrl: string;
}

/** Told of each reply by a word: a status, or what went wrong. */
type Tell = (reply: string) => void;
export type Attack = (target: AttackTarget, stop: AbortSignal, tell: Tell) => Promise<void>;

const CALLERS = 16;

const wrongRow = { code: `${'a'.repeat(60)}!`, size: 'x', kind: 'tiny', note: 7, other: { a: [1, 2, 3] } };
const manyRows = (bytes: number) => Array.from({ length: Math.floor(bytes / 130) }, () => wrongRow);

export const attacks: Readonly<Record<string, Attack>> = {
  'inputs of which every value is wrong': byCallers((target) =>
    post(target, '/v1/runs', { method: target.method, inputs: { rows: manyRows(200_000), more: {} } }),
  ),
  'inputs nested in ways that no schema names': byCallers((target) => {
    const deep = JSON.parse(`${'['.repeat(60)}1${']'.repeat(60)}`);
    const more = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`k${n}`, [deep, wrongRow]]));
    return post(target, '/v1/runs', { method: target.method, inputs: { more } });
  }),
  'starts as fast as they go': byCallers((target) =>
    post(target, '/v1/runs', { method: target.method, inputs: {}, metadata: { a: 'b'.repeat(500) } }),
  ),
  'starts and cancels with a webhook that never replies': byCallers(async (target) => {
    const started = await request(target, 'POST', '/v1/runs', {
      method: target.method,
      inputs: {},
      webhook_url: `${target.silentUrl}/${randomUUID()}`,
    });
    const { run_id } = JSON.parse(started.text);
    return run_id === undefined ? started.reply : post(target, `/v1/runs/${run_id}/cancel`, {});
  }),
  'waits for runs that never end': byCallers(async (target) => {
    return post(target, '/v1/runs?wait_ms=60000', { method: target.method, inputs: {} });
  }, 400),
  'event streams that are never read': byCallers(async (target, stop) => {
    const started = await request(target, 'POST', '/v1/runs', { method: target.method, inputs: {} });
    const { run_id } = JSON.parse(started.text);
    const response = await fetch(`${target.baseUrl}/v1/runs/${run_id}/events`, {
      headers: { authorization: `Bearer ${target.key}` },
      signal: stop,
    });
    if (response.ok) await new Promise((resolve) => stop.addEventListener('abort', resolve));
    return String(response.status);
  }, 300),
  'lists of everything, with filters that match nothing': byCallers((target) =>
    get(target, `/v1/runs?limit=200&metadata.${randomUUID().slice(0, 8)}=x&status=failed`),
  ),
  'sources that are long and wrong': byCallers((target) => {
    const step = (n: number) => `  - name: s${n}\n    set: { a: "=1 +" }\n    out: { a: nothing, b: list<Nope> }\n`;
    const source = `format: method/2\nname: x\nsteps:\n${Array.from({ length: 2_500 }, (_, n) => step(n)).join('')}`;
    return post({ ...target, key: target.token }, '/api/methods/validate', { source });
  }),
  'keys that nobody made': byCallers((target) =>
    get({ ...target, key: createServiceKey().key }, `/v1/runs/${newId('run')}`),
  ),
  'junk at the port of workers, without a key': byCallers(
    (target, stop) => junkCall(target.workerAddress, randomBytes(48_000), stop),
    8,
  ),
  'a worker of 1,000 methods that dials again and again': byCallers((target, stop) => redial(target, stop), 4),
};

function byCallers(call: (target: AttackTarget, stop: AbortSignal) => Promise<string>, callers = CALLERS): Attack {
  return async (target, stop, tell) => {
    const caller = async () => {
      while (!stop.aborted) {
        tell(await call(target, stop).catch((error: Error) => `no reply: ${error.name}`));
        // A refusal says when to come again; an attacker does not obey, but does not spin either.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await Promise.race([
      Promise.all(Array.from({ length: callers }, caller)),
      new Promise((resolve) => stop.addEventListener('abort', resolve)),
    ]);
  };
}

async function post(target: AttackTarget, path: string, body: object): Promise<string> {
  return (await request(target, 'POST', path, body)).reply;
}

async function get(target: AttackTarget, path: string): Promise<string> {
  return (await request(target, 'GET', path)).reply;
}

async function request(target: AttackTarget, method: string, path: string, body?: object) {
  const response = await fetch(target.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { reply: String(response.status), text: await response.text() };
}

/** A gRPC call whose message says it is gzip and is noise; resolves with how the server ended it. */
function junkCall(address: string, bytes: Buffer, stop: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const session = connect(`http://${address}`);
    const end = (word: string) => {
      session.destroy();
      resolve(word);
    };
    stop.addEventListener('abort', () => end('stopped'), { once: true });
    session.on('error', () => end('connection refused'));
    const call = session.request({
      ':method': 'POST',
      ':path': '/methods.worker.v1.WorkerService/GetVersion',
      'content-type': 'application/grpc',
      'grpc-encoding': 'gzip',
      te: 'trailers',
    });
    const head = Buffer.alloc(5);
    head[0] = 1;
    head.writeUInt32BE(bytes.length, 1);
    call.on('error', () => end('stream refused'));
    call.on('response', (headers) => end(`grpc-status ${headers['grpc-status']}`));
    call.end(Buffer.concat([head, bytes]));
  });
}

/** One hello with as many methods as a worker may name; resolves when the server hangs up or has welcomed it. */
function redial(target: AttackTarget, stop: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const connection = dialFrames(WorkerService.method.work, target.workerAddress, {
      metadata: { authorization: `Bearer ${target.key}` },
      onItems: () => end('welcomed'),
      onClose: () => end('closed'),
    });
    const end = (word: string) => {
      connection.close();
      resolve(word);
    };
    stop.addEventListener('abort', () => end('stopped'), { once: true });
    const methods = Array.from({ length: 1_000 }, () => `wf_${newId('org').slice(4)}`);
    connection.send({
      item: {
        case: 'hello',
        value: { workerId: randomUUID(), streamNumber: 1, methods, slots: 10, features: [], sdk: 'attack', held: [] },
      },
    });
  });
}
