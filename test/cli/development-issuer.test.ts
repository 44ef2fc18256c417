import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser } from '@methods/local-stack/identity/testing/browser.fixture';
import {
  ADA,
  type RunningProvider,
  runningProvider,
  signIn,
} from '@methods/local-stack/identity/testing/running-provider.fixture';
import { type CliGateway, commonRegistryGateway } from './cli-gateway.ts';
import { Desk } from './desk.ts';

const ADA_WORDS = 'ada.lovelace@example.com (Ada Lovelace), admin of Local';

describe('a command line and the issuer of a local stack', () => {
  let provider: RunningProvider;
  let gateway: CliGateway;

  before(async () => {
    provider = await runningProvider();
    gateway = await commonRegistryGateway({ issuer: provider.issuer });
  });
  after(async () => {
    await gateway?.stop();
    await provider?.stop();
  });

  test('sign in for agents beside the commands, each with tokens of its own, and out of both', async () => {
    const desk = await Desk.make();
    const forAgents = await desk.signIn(gateway.url, (address) => signIn(address), [], ['mcp', 'login']);
    assert.equal(forAgents.code, 0, forAgents.stderr);
    assert.match(forAgents.stdout, /^Signed in for agents: http:\/\/127\.0\.0\.1:4600\/mcp$/m);
    const agents = desk.theSignIn();
    const claims = JSON.parse(Buffer.from(agents.accessToken.split('.')[1] ?? '', 'base64url').toString());
    assert.equal(claims.aud, 'http://127.0.0.1:4600/mcp');
    const whoami = await desk.run(['whoami', '--server', gateway.url]);
    assert.equal(whoami.code, 1, 'commands do not use it');
    assert.equal((await desk.signIn(gateway.url, (address) => signIn(address))).code, 0);
    assert.equal(desk.kept().length, 2);
    // Refreshing one does not end the other.
    assert.equal((await desk.run(['whoami'])).code, 0);
    const out = await desk.run(['logout']);
    assert.equal(out.code, 0, out.stderr);
    assert.deepEqual(desk.kept(), []);
    const stolen = await fetch(`${provider.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: 'methods-cli',
        refresh_token: agents.refreshToken,
      }),
    });
    assert.equal(((await stolen.json()) as { error: string }).error, 'invalid_grant');
    desk.assertNeverSaid([agents.accessToken, agents.refreshToken]);
    await desk.remove();
  });

  test('sign in with the browser, act, and sign out for good', async () => {
    const desk = await Desk.make();
    const login = await desk.signIn(gateway.url, (address) => signIn(address));
    assert.equal(login.code, 0, login.stderr);
    assert.match(
      login.stdout,
      new RegExp(`^Signed in to ${gateway.url}: ada\\.lovelace@example\\.com \\(.+\\), admin of Local$`, 'm'),
    );
    const address = new URL(await desk.opened());
    assert.ok(login.stderr.includes(address.href), 'the address is printed too');
    assert.equal(address.searchParams.get('code_challenge_method'), 'S256');
    assert.match(address.searchParams.get('redirect_uri') ?? '', /^http:\/\/127\.0\.0\.1:\d+\/callback$/);

    const [file] = desk.kept();
    assert.equal(file?.mode, 0o600);
    const { accessToken, refreshToken } = desk.theSignIn();

    // The server of the last sign-in is meant where none is named.
    const whoami = await desk.run(['whoami', '--json']);
    assert.equal(whoami.code, 0, whoami.stderr);
    const { user, role, organization, credential } = JSON.parse(whoami.stdout);
    assert.deepEqual([user.email, role, organization.name, credential], [ADA.email, 'admin', 'Local', 'machine_token']);

    const logout = await desk.run(['logout']);
    assert.deepEqual([logout.code, logout.stdout], [0, `Signed out of ${gateway.url}\n`], logout.stderr);
    assert.deepEqual(desk.kept(), []);
    const stolen = await fetch(`${provider.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'refresh_token', client_id: 'methods-cli', refresh_token: refreshToken }),
    });
    assert.equal(((await stolen.json()) as { error: string }).error, 'invalid_grant');
    const nobody = await desk.run(['whoami']);
    assert.deepEqual([nobody.code, nobody.stdout], [1, '']);
    assert.match(nobody.stderr, /^error: no server is known\nhint: sign in with {2}methods login/);
    const unsigned = await desk.run(['whoami', '--server', gateway.url]);
    assert.equal(unsigned.stderr, `error: not signed in\nhint: methods login --server ${gateway.url}\n`);
    desk.assertNeverSaid([accessToken, refreshToken]);
    for (const secret of [accessToken, refreshToken]) assert.ok(!gateway.log().includes(secret));
    await desk.remove();
  });

  test('sign in with a code where there is no display', async () => {
    const desk = await Desk.make({ display: false });
    const { shown, end } = desk.start(['--server', gateway.url, '--json'], /enter the code {2}(\S+)/);
    const browser = new Browser();
    const question = await browser.submit(await browser.open(`${provider.issuer}/device`), { user_code: await shown });
    const consent = await browser.submit(await browser.submit(question, { confirm: 'yes' }), ADA);
    assert.match((await browser.submit(consent)).text, /Your device is signed in/);
    const login = await end;
    assert.equal(login.code, 0, login.stderr);
    const { server, issuer, kept_in, user, role } = JSON.parse(login.stdout);
    assert.deepEqual([server, issuer, kept_in], [gateway.url, provider.issuer, 'file']);
    assert.deepEqual([user.email, role], [ADA.email, 'admin']);
    const whoami = await desk.run(['whoami', '--quiet']);
    assert.ok(whoami.stdout.startsWith(ADA_WORDS.slice(0, 24)), whoami.stdout);
    desk.assertNeverSaid([desk.theSignIn().accessToken, desk.theSignIn().refreshToken]);
    await desk.remove();
  });

  test('say that a person refused', async () => {
    const desk = await Desk.make();
    const login = await desk.signIn(gateway.url, async (address) => {
      const browser = new Browser();
      const page = await browser.open(address);
      const abort = /action="([^"]*\/abort)"|formaction="([^"]*\/abort)"/.exec(page.text);
      const back = await browser.submit(page, {}, abort?.[1] ?? abort?.[2]);
      return new URL(back.url);
    });
    assert.equal(login.code, 1);
    assert.match(login.stderr, /error: the sign-in was refused\nhint: sign in again and allow it\n$/);
    assert.deepEqual(desk.kept(), []);
    await desk.remove();
  });
});
