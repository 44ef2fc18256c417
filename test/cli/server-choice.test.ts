import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { type RunningProvider, runningProvider } from '@methods/local-stack/identity/testing/running-provider.fixture';
import { type CliGateway, commonRegistryGateway } from './cli-gateway.ts';
import { Desk } from './desk.ts';

describe('the server a command means', () => {
  let provider: RunningProvider;
  let gateway: CliGateway;
  let desk: Desk;
  const servers: Server[] = [];
  const stacks: ReturnType<typeof spawn>[] = [];

  before(async () => {
    provider = await runningProvider();
    // Workers would get an address without a listener.
    gateway = await commonRegistryGateway({ issuer: provider.issuer, grpcUrl: '127.0.0.1:9' });
  });
  after(async () => {
    await gateway?.stop();
    await provider?.stop();
  });
  beforeEach(async () => {
    desk = await Desk.make();
  });
  afterEach(async () => {
    for (const stack of stacks.splice(0)) stack.kill('SIGKILL');
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
    await desk.remove();
  });

  /** What a running stack leaves in the state folder: its ready line, and a data folder whose lock names a process. */
  function stack(baseUrl: string, apiKey = createServiceKey().key): void {
    const dataDir = join(desk.folder.dir, `stack-${stacks.length}`);
    const identity = join(dataDir, 'identity-provider');
    const lines = join(desk.folder.dir, '.local', 'state', 'methods', 'stacks');
    for (const folder of [identity, lines]) mkdirSync(folder, { recursive: true });
    const holder = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)', 'deploy/local/src/main.ts']);
    stacks.push(holder);
    const { issuer, config } = provider;
    writeFileSync(join(dataDir, 'stack.lock'), String(holder.pid));
    writeFileSync(join(identity, 'issuer.json'), JSON.stringify({ issuer, port: config.port, former: [] }));
    writeFileSync(join(identity, 'token-secret'), readFileSync(join(config.folder, 'token-secret')));
    const line = { ready: true, base_url: baseUrl, api_key: apiKey, issuer, data_dir: dataDir };
    writeFileSync(join(lines, `${stacks.length}.json`), JSON.stringify(line));
  }

  async function listening(server: Server): Promise<string> {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const plainServer = async (answer: RequestListener) => `http://${await listening(createHttpServer(answer))}`;

  test('is the only local stack, in which its developer acts without a sign-in', async () => {
    stack(gateway.url);
    const { code, stdout, stderr } = await desk.run(['whoami']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^developer@example\.com \(Developer\), \w+ of Local\n/);
    assert.match(stdout, /the local stack on this machine, without a sign-in/);
  });

  test('is no stack that was killed', async () => {
    stack(gateway.url);
    const [holder] = stacks;
    const gone = new Promise((resolve) => holder?.once('exit', resolve));
    holder?.kill('SIGKILL');
    await gone;
    assert.match((await desk.run(['whoami'])).stderr, /^error: no server is known\n/);
  });

  test('is asked for where several stacks run, and may be named in two ways', async () => {
    stack(gateway.url);
    stack('http://127.0.0.1:59999');
    const { code, stderr } = await desk.run(['whoami']);
    assert.equal(code, 2);
    assert.ok(stderr.startsWith('error: several local stacks are running: http://127.0.0.1:'), stderr);
    assert.ok(stderr.includes(gateway.url) && stderr.includes('http://127.0.0.1:59999'));
    assert.match(stderr, /\nhint: choose one with --server URL\n$/);
    assert.equal((await desk.run(['whoami', '--server', `${gateway.url}/`])).code, 0);
    assert.equal((await desk.run(['whoami'], { METHODS_SERVER: gateway.url })).code, 0);
  });

  test('is an address, or the command line is wrong', async () => {
    for (const [address, why] of [
      ['nonsense', /^error: --server is no address\nhint: such as https/],
      ['ftp://127.0.0.1', /^error: --server is not an address of http or https\n/],
      ['https://me:word@example.com', /^error: --server names a user/],
      ['https://example.com/?a=b', /^error: --server has more than an address/],
    ] as const) {
      const { code, stderr } = await desk.run(['whoami', '--server', address]);
      assert.equal(code, 2);
      assert.match(stderr, why);
    }
  });

  test('gets an error with a sentence if it is unavailable, busy, moved, or not a server of methods', async () => {
    const closed = await plainServer(() => {});
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
    const text = await plainServer((_, response) => response.end('<html>Hello</html>'));
    const down = await plainServer((_, response) => response.writeHead(502).end('<html>Bad gateway</html>'));
    const moved = await plainServer((_, response) =>
      response.writeHead(301, { location: 'https://methods.example.com/.well-known/methods' }).end(),
    );
    const broken = await plainServer((request) => request.socket.destroy());
    for (const [server, code, message] of [
      [closed, 'unreachable', /^the server at \S+ cannot be reached: nothing listens there$/],
      [broken, 'unreachable', /^the server at \S+ cannot be reached: the connection broke$/],
      ['http://nowhere.invalid', 'unreachable', /cannot be reached: its name /],
      [closed.replace('http', 'https'), 'unreachable', /nothing listens there$/],
      [text.replace('http', 'https'), 'unreachable', /does not speak TLS/],
      [text, 'not_a_server', /is not a server of methods$/],
      [down, 'unavailable', /answers 502$/],
      [moved, 'moved', /sends this request elsewhere$/],
    ] as const) {
      const end = await desk.run(['whoami', '--json', '--server', server]);
      assert.deepEqual([end.code, end.stdout], [1, ''], server);
      const { error, message: said, hint } = JSON.parse(end.stderr);
      assert.equal(error, code);
      assert.match(said, message);
      if (code === 'moved') assert.equal(hint, 'methods … --server https://methods.example.com');
    }
  });

  test('is verified by its certificate, and only --debug shows a stack trace', async () => {
    const [key, cert] = [join(desk.folder.dir, 'key.pem'), join(desk.folder.dir, 'cert.pem')];
    const subject = ['-subj', '/CN=other.example', '-addext', 'subjectAltName=DNS:other.example'];
    const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
    execFileSync('openssl', [...args, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const options = { key: readFileSync(key), cert: readFileSync(cert) };
    const server = `https://${await listening(createHttpsServer(options, (_, response) => response.end('{}')))}`;
    const own = await desk.run(['whoami', '--server', server]);
    assert.equal(own.code, 1);
    assert.equal(
      own.stderr,
      `error: the certificate of the server at ${server} is self-signed\n` +
        'hint: if the authority is your own, name its file in NODE_EXTRA_CA_CERTS\n',
    );
    const trusted = await desk.run(['whoami', '--server', server], { NODE_EXTRA_CA_CERTS: cert });
    assert.match(
      trusted.stderr,
      /^error: the certificate of the server at \S+ is for another name\nhint: use the name /,
    );
    const debug = await desk.run(['whoami', '--server', server, '--debug']);
    assert.match(debug.stderr, /^error: .+\nhint: .+\nCommandError: .+\n +at [\s\S]+\ncaused by /);
  });

  test('is checked by doctor: what is well, what is missing, and what to do', async () => {
    const none = await desk.run(['doctor', '--json']);
    assert.equal(none.code, 0, none.stdout);
    const { ok, checks } = JSON.parse(none.stdout) as { ok: boolean; checks: Record<string, string>[] };
    assert.equal(ok, true);
    const names = checks.map(({ name }) => name);
    assert.deepEqual(names, ['node', 'python3', 'pip', 'bubblewrap', 'server']);
    for (const { state, remedy } of checks) assert.equal(remedy === null, state === 'ok');

    stack(gateway.url);
    const wrong = createServiceKey().key;
    const env = { SERVICE_API_KEY: wrong, PATH: join(desk.folder.dir, 'bin') };
    const whole = await desk.run(['doctor', '--json'], env);
    assert.equal(whole.code, 1);
    const found = new Map(
      (JSON.parse(whole.stdout).checks as Record<string, string>[]).map((check) => [check.name, check]),
    );
    assert.equal(found.get('server')?.found, `${gateway.url}, the local stack`);
    assert.deepEqual([found.get('clock')?.state, found.get('sign-in')?.state], ['ok', 'ok']);
    assert.equal(found.get('python3')?.found, 'no python3 on PATH');
    assert.equal(found.get('worker endpoint')?.found, '127.0.0.1:9: nothing listens there');
    assert.deepEqual(
      [found.get('key')?.state, found.get('key')?.found],
      ['problem', 'the server does not accept SERVICE_API_KEY'],
    );
    const mistyped = await desk.run(['doctor', '--quiet'], { SERVICE_API_KEY: wrong.slice(0, -3) });
    assert.match(mistyped.stdout, /^problem {2}key {14}SERVICE_API_KEY is not a service key\n {26}\S/m);
    desk.assertNeverSaid([wrong, wrong.slice(0, 46)]);
  });

  test('is painted on no terminal that asked for none', async () => {
    const { stdout } = await desk.run(['doctor'], { NO_COLOR: '1', FORCE_COLOR: '1' });
    assert.ok(stdout.length > 0 && !stdout.includes('\u001b'));
  });
});
