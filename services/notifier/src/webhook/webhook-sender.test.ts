import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { verifySignature } from '@methods/auth/webhook-signature';
import { systemClock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { type Answer, receiver, status } from '../../test/receiver.fixture.ts';
import { silentReceivers } from '../../test/silent-receivers.fixture.ts';
import type { ClaimedDelivery, DeliveryTry } from '../delivery/delivery.ts';
import { isPassing } from '../store/passing-faults.ts';
import type { HostResolver } from './host-resolver.ts';
import { WebhookSender, type WebhookSenderOptions } from './webhook-sender.ts';

const SECRET = 'whsec_0123456789';
/** For tries that should end by it. */
const TIMEOUT_MS = 400;
/** A busy machine may notice a time-out late; without one, nothing ends. */
const NEVER_MS = 60_000;
const never = new AbortController().signal;

function deliveryTo(url: string, body = '{"event":"succeeded","text":"é"}'): ClaimedDelivery {
  return {
    orgId: 'org_1',
    deliveryId: 'dlv_1',
    runId: 'run_1',
    seq: 1,
    url,
    endpointId: '',
    kind: 'webhook',
    host: new URL(url).hostname,
    event: 'succeeded',
    keyId: 'key_1',
    body: Buffer.from(body),
    claim: 'c',
    tries: 0,
    resentFrom: null,
  };
}

const at =
  (...addresses: readonly string[]): HostResolver =>
  async () =>
    addresses.map((address) => ({ address, family: 4 as const }));

function sender(options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  return new WebhookSender({
    policy: { allowPrivate: true, ports: [] },
    secrets: { get: async () => SECRET },
    endpoints: { get: async () => [] },
    chatMessage: async ({ body }) => ({ body, secrets: [] }),
    hosts: { get: async () => [] },
    resolve: at('127.0.0.1'),
    places: { enter: async () => () => {} },
    isPassing,
    clock: systemClock,
    timeoutMs: NEVER_MS,
    logger: silentLogger,
    ...options,
  });
}

async function sendTo(url: string, options: Partial<WebhookSenderOptions> = {}): Promise<DeliveryTry> {
  const outcome = await sender(options).send(deliveryTo(url), never);
  assert.equal(outcome.kind, 'tried');
  return (outcome as Extract<typeof outcome, { kind: 'tried' }>).result;
}

async function answered(answer: Answer, timeoutMs = NEVER_MS): Promise<DeliveryTry> {
  await using server = await receiver(answer);
  return await sendTo(`http://hook.example:${server.port}/`, { timeoutMs });
}

test('the stored bytes arrive signed, with the name as host, at the address that was checked', async () => {
  await using server = await receiver(status(200, 'thanks'));
  const result = await sendTo(`http://hook.example:${server.port}/in?a=%20b`);
  assert.deepEqual(
    { status: result.httpStatus, error: result.error, answer: result.answerStart },
    { status: 200, error: '', answer: 'thanks' },
  );
  const [request] = server.requests;
  assert.ok(request);
  assert.equal(request.path, '/in?a=%20b');
  assert.equal(request.rawBody.toString(), '{"event":"succeeded","text":"é"}');
  assert.equal(request.headers.host, `hook.example:${server.port}`);
  assert.equal(request.headers['content-type'], 'application/json');
  assert.equal(request.headers['service-event'], 'succeeded');
  assert.equal(request.headers['service-delivery'], 'dlv_1');
  assert.equal(request.headers['accept-encoding'], undefined);
  const header = String(request.headers['service-signature']);
  verifySignature(request.rawBody, header, SECRET, { nowS: Date.now() / 1000 });
  assert.throws(() => verifySignature(Buffer.from('{}'), header, SECRET, { nowS: Date.now() / 1000 }));
});

test('the name is resolved once and the connection keeps to that answer', async () => {
  await using server = await receiver(status(204), { host: '0.0.0.0' });
  let asked = 0;
  const rebinding: HostResolver = async () => [{ address: asked++ === 0 ? '127.0.0.2' : '127.0.0.3', family: 4 }];
  assert.equal((await sendTo(`http://hook.example:${server.port}/`, { resolve: rebinding })).httpStatus, 204);
  assert.equal(asked, 1);
  assert.match(server.requests[0]?.localAddress ?? '', /127\.0\.0\.2$/);
});

test('the next address is tried when the first refuses', async () => {
  await using server = await receiver(status(204), { host: '127.0.0.2' });
  const result = await sendTo(`http://hook.example:${server.port}/`, { resolve: at('127.0.0.1', '127.0.0.2') });
  assert.equal(result.httpStatus, 204);
});

test('a public policy never connects to a private address', async () => {
  await using server = await receiver(status(200));
  const options = { policy: { allowPrivate: false, ports: [server.port] }, resolve: at('8.8.8.8', '127.0.0.1') };
  assert.equal((await sendTo(`https://hook.example:${server.port}/`, options)).error, 'address_not_public');
  assert.match((await sendTo(`https://127.0.0.1:${server.port}/`, options)).error, /^invalid_url/);
  assert.match((await sendTo(`http://hook.example:${server.port}/`, options)).error, /^invalid_url/);
  assert.equal(server.requests.length, 0);
});

test('a redirect is an answer like any other and is not followed', async () => {
  await using elsewhere = await receiver(status(200));
  const result = await answered((_request, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${elsewhere.port}/` }).end();
  });
  assert.equal(result.httpStatus, 302);
  assert.equal(elsewhere.requests.length, 0);
});

test('proxy variables change nothing', async () => {
  await using proxy = await receiver(status(200));
  await using server = await receiver(status(202));
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'];
  // biome-ignore lint/style/noProcessEnv: the test is about the environment
  const environment = process.env;
  for (const name of names) environment[name] = `http://127.0.0.1:${proxy.port}`;
  try {
    assert.equal((await sendTo(`http://hook.example:${server.port}/`)).httpStatus, 202);
  } finally {
    for (const name of names) delete environment[name];
  }
  assert.equal(proxy.requests.length, 0);
});

test('a receiver that never answers is a time-out', async () => {
  const result = await answered(() => {}, TIMEOUT_MS);
  assert.deepEqual([result.httpStatus, result.error], [0, 'timeout']);
  assert.ok(result.durationMs >= TIMEOUT_MS - 5 && result.durationMs < NEVER_MS, String(result.durationMs));
});

test('a name server that never answers is a time-out', async () => {
  // The timer of a try keeps no process alive.
  const awake = setInterval(() => {}, 1_000);
  try {
    const result = await sendTo('http://hook.example/', {
      timeoutMs: TIMEOUT_MS,
      resolve: () => new Promise(() => {}),
    });
    assert.equal(result.error, 'timeout');
  } finally {
    clearInterval(awake);
  }
});

test('only the first KiB of an endless answer is read', async () => {
  const result = await answered((_request, response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more).on('error', () => {});
    more();
  });
  assert.equal(result.httpStatus, 200);
  assert.equal(result.answerStart.length, 1024);
});

test('a reply whose body never ends counts by its status', async () => {
  const result = await answered((_request, response) => {
    response.writeHead(200).write('part');
  }, 2_000);
  assert.deepEqual([result.httpStatus, result.error, result.answerStart], [200, '', 'part']);
});

test('a compressed answer is not unpacked', async () => {
  const packed = gzipSync(Buffer.alloc(1_000_000));
  const result = await answered((_request, response) => {
    response.writeHead(500, { 'content-encoding': 'gzip' }).end(packed);
  });
  assert.equal(result.httpStatus, 500);
  assert.ok(result.answerStart.length <= 1024 && !result.answerStart.includes('\u0000'));
});

// Answers in bytes, for what no HTTP library would send.
const rawAnswers: readonly (readonly [string, (socket: Socket) => void, RegExp])[] = [
  [
    'endless headers',
    (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n', 'x-filler: aaaaaaaaaaaaaaaa\r\n'),
    // A busy machine may not send as much as is too much.
    /^(timeout|bad_answer)/,
  ],
  [
    'one endless header',
    (socket) => flood(socket, 'HTTP/1.1 200 OK\r\nx: ', 'a'.repeat(1024)),
    /^(timeout|bad_answer)/,
  ],
  ['HTTP/0.9', (socket) => socket.end('hello'), /^bad_answer/],
  ['something that is not HTTP', (socket) => socket.end('220 mail ready\r\n'), /^bad_answer/],
  ['a broken connection', (socket) => socket.resetAndDestroy(), /^(connect_failed|bad_answer)/],
  ['a close before any answer', (socket) => socket.end(), /^bad_answer/],
  [
    'endless interim answers',
    (socket) => flood(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n'),
    /^(timeout|bad_answer)/,
  ],
  ['a status line and then silence', (socket) => socket.write('HTTP/1.1 200 OK\r\n'), /^timeout/],
  [
    'an upgrade',
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    /^(bad_answer|timeout)/,
  ],
];

function flood(socket: Socket, first: string, rest: string): void {
  socket.write(first);
  const more = () => {
    while (!socket.destroyed && socket.write(rest));
  };
  socket.on('drain', more);
  more();
}

for (const [what, answer, error] of rawAnswers) {
  test(`${what} is a failed try`, async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}));
      socket.once('data', () => answer(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      const timeoutMs = error.test('timeout') ? 2_000 : NEVER_MS;
      const result = await sendTo(`http://hook.example:${port}/`, { timeoutMs });
      assert.equal(result.httpStatus, 0);
      assert.match(result.error, error);
    } finally {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
  });
}

test('a receiver that never completes the handshake is a time-out, and so is one that sends a byte at a time', async () => {
  await using silent = await silentReceivers();
  for (const url of [`https://127.0.0.1:${silent.neverAnswers}/`, `http://127.0.0.1:${silent.drips}/`]) {
    const result = await sendTo(url, { timeoutMs: TIMEOUT_MS });
    assert.match(result.error, /^timeout/, url);
    assert.ok(result.durationMs < NEVER_MS, String(result.durationMs));
  }
});

test('a receiver that floods costs only the bytes read before it is disconnected', async () => {
  let sent = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    const more = () => {
      while (!socket.destroyed && socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1_000)));
      sent = socket.bytesWritten;
    };
    socket.on('drain', more).once('data', more);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as { port: number };
    assert.match((await sendTo(`http://hook.example:${port}/`)).error, /^bad_answer/);
    assert.ok(sent < 16 << 20, `${sent} bytes`);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

test('a port without a listener is a failed connection', async () => {
  const server = await receiver(status(200));
  await server[Symbol.asyncDispose]();
  assert.equal((await sendTo(`http://hook.example:${server.port}/`)).error, 'connect_failed: ECONNREFUSED');
});

test('over TLS the certificate must be for the name and from a trusted issuer', async () => {
  const tls = certificateFor('hook.example');
  await using server = await receiver(status(200), { tls });
  const trusting = { trustedCertificates: tls.cert };
  assert.equal((await sendTo(`https://hook.example:${server.port}/`, trusting)).httpStatus, 200);
  assert.match((await sendTo(`https://other.example:${server.port}/`, trusting)).error, /^tls_failed/);
  assert.match((await sendTo(`https://127.0.0.1:${server.port}/`, trusting)).error, /^tls_failed/);
  assert.match((await sendTo(`https://hook.example:${server.port}/`)).error, /^tls_failed/);
  assert.equal(server.requests.length, 1);
});

test('TLS to a port without TLS is a failed try', async () => {
  await using server = await receiver(status(200));
  assert.match((await sendTo(`https://hook.example:${server.port}/`)).error, /^(tls_failed|connect_failed|bad_answer)/);
});

test('without the part that stores the secrets nothing is sent and nothing counts', async () => {
  await using server = await receiver(status(200));
  const secrets = { get: () => Promise.reject(new ServiceError('unavailable')) };
  const outcome = await sender({ secrets }).send(deliveryTo(`http://hook.example:${server.port}/`), never);
  assert.equal(outcome.kind, 'postponed');
  assert.equal(server.requests.length, 0);
});

test('a key that does not exist is a failed try', async () => {
  const secrets = { get: () => Promise.reject(new ServiceError('not_found')) };
  assert.equal((await sendTo('http://hook.example/', { secrets })).error, 'signing_secret_missing');
});

test('a try that the process aborts while stopping is put back', async () => {
  const stop = new AbortController();
  await using server = await receiver(() => stop.abort());
  const outcome = await sender().send(deliveryTo(`http://hook.example:${server.port}/`), stop.signal);
  assert.equal(outcome.kind, 'postponed');
});

function certificateFor(name: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'notifier-tls-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
    const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
    execFileSync('openssl', [...args, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
