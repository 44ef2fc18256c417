import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { TestIssuer } from '../harness/test-issuer.ts';
import { type CliGateway, commonRegistryGateway } from './cli-gateway.ts';
import { Desk } from './desk.ts';

const ELSEWHERE = 'https://methods.example/api';

/** An untrusted server that names an issuer and an audience of its choice and records what it receives. */
class StrangeServer implements AsyncDisposable {
  readonly asked: IncomingMessage[] = [];

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    readonly url: string,
  ) {}

  static async started(issuer: string, audience: (url: string) => string): Promise<StrangeServer> {
    const server = createServer((request, response) => {
      strange.asked.push(request);
      const facts = { issuer, cli_client_id: 'methods-cli', machine_audience: audience(strange.url) };
      const caller = { kind: 'user', user: { email: 'ada@acme.example', name: null }, role: 'member' };
      const body = request.url === '/api/whoami' ? { ...caller, organization: { name: 'Acme' } } : facts;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const strange = new StrangeServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return strange;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('a server and the tokens of another server of the same issuer', () => {
  let issuer: TestIssuer;
  let gateway: CliGateway;
  let desk: Desk;

  before(async () => {
    issuer = await TestIssuer.started();
    gateway = await commonRegistryGateway({ issuer: issuer.url, machineAudience: ELSEWHERE });
  });
  after(async () => {
    await gateway?.stop();
    await issuer?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    issuer.givenAudience = null;
    desk = await Desk.make();
  });
  afterEach(() => desk.remove());

  const visit = async (address: string) => {
    const { headers } = await fetch(address, { redirect: 'manual' });
    return new URL(headers.get('location') ?? '');
  };

  test('asking for them starts no sign-in', async () => {
    await using strange = await StrangeServer.started(issuer.url, () => ELSEWHERE);
    const asked = issuer.asked.length;
    for (const flow of [[], ['--device']]) {
      const { code, stderr } = await desk.run(['login', '--server', strange.url, ...flow]);
      assert.equal(code, 1);
      assert.match(stderr, /^error: \S+ asks for tokens for https:\/\/methods\.example\/api, which is no address of/);
    }
    assert.equal(issuer.asked.length, asked);
    assert.deepEqual(desk.kept(), []);
  });

  test('it is not sent one that the issuer gives in place of its own', async () => {
    await using strange = await StrangeServer.started(issuer.url, (url) => `${url}/api`);
    issuer.givenAudience = ELSEWHERE;
    const { code, stderr } = await desk.signIn(strange.url, visit);
    assert.equal(code, 1);
    assert.match(stderr, /error: the issuer gave a token that is not for http:\/\/127\.0\.0\.1:\d+\/api\nhint: /);
    assert.ok(strange.asked.every(({ headers }) => headers.authorization === undefined));
    assert.deepEqual(desk.kept(), []);
  });

  test('it is not sent one that the issuer gives on renewal', async () => {
    await using strange = await StrangeServer.started(issuer.url, (url) => `${url}/api`);
    issuer.expiresS = 30;
    assert.equal((await desk.signIn(strange.url, visit)).code, 0);
    issuer.givenAudience = ELSEWHERE;
    const sent = strange.asked.filter(({ headers }) => headers.authorization !== undefined).length;
    const { code, stderr } = await desk.run(['whoami', '--server', strange.url]);
    assert.equal(code, 1);
    assert.match(stderr, /^error: the issuer gave a token that is not for /);
    assert.equal(strange.asked.filter(({ headers }) => headers.authorization !== undefined).length, sent);
  });

  test('a person who knows its audience names it', async () => {
    const refused = await desk.run(['login', '--server', gateway.url, '--audience', 'https://methods.example']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^error: \S+ asks for tokens for \S+, and not for https:\/\/methods\.example\n/);
    const { code, stderr } = await desk.signIn(gateway.url, visit, ['--audience', ELSEWHERE]);
    assert.equal(code, 0, stderr);
    assert.equal((await desk.run(['whoami'])).code, 0);
  });
});
