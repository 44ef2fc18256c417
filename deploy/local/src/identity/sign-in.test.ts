import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser } from './testing/browser.fixture.ts';
import {
  ADA,
  authorizeUrl,
  BASE,
  exchange,
  MACHINE,
  MCP,
  pkce,
  post,
  type RunningProvider,
  runningProvider,
  signIn,
  verified,
} from './testing/running-provider.fixture.ts';

describe('a sign-in with the development identity provider', () => {
  let running: RunningProvider;
  let issuer: string;

  before(async () => {
    running = await runningProvider();
    issuer = running.issuer;
  });
  after(() => running.stop());

  async function tokens(over: Record<string, string | null> = {}, person = ADA) {
    const { verifier, challenge } = pkce();
    const back = await signIn(authorizeUrl(issuer, challenge, over), person);
    const { status, body } = await exchange(issuer, back.searchParams.get('code') ?? '', verifier);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  test('ends in an access token that names the person and organization, for one audience', async () => {
    const { verifier, challenge } = pkce();
    const back = await signIn(authorizeUrl(issuer, challenge));
    assert.equal(back.origin + back.pathname, 'http://127.0.0.1:53682/callback');
    assert.equal(back.searchParams.get('state'), 'state-1');
    assert.equal(back.searchParams.get('iss'), issuer);
    const { body } = await exchange(issuer, back.searchParams.get('code') ?? '', verifier);
    const claims = await verified(issuer, body.access_token ?? '', MACHINE);
    const { iat = 0, exp = 0, jti, sub, ...rest } = claims;
    assert.equal(exp - iat, 900);
    assert.ok(jti && sub);
    assert.deepEqual(rest, {
      iss: issuer,
      aud: MACHINE,
      client_id: 'methods-cli',
      scope: 'openid profile email offline_access',
      org_id: 'local',
      org_name: 'Local',
      role: 'admin',
      email: 'ada.lovelace@example.com',
      email_verified: true,
      name: 'Ada Lovelace',
    });
    await assert.rejects(verified(issuer, body.access_token ?? '', MCP), /"aud"/);
  });

  test('gives the dashboard an id_token with the same claims, without a question', async () => {
    const { verifier, challenge } = pkce();
    const browser = new Browser();
    const callback = `${BASE}/auth/callback`;
    const dashboard = { client_id: 'methods-dashboard', redirect_uri: callback, resource: null, prompt: null };
    const login = await browser.open(authorizeUrl(issuer, challenge, { ...dashboard, scope: 'openid profile email' }));
    const back = new URL((await browser.submit(login, { ...ADA, organization: 'Ärzte & Co', role: '' })).url);
    assert.equal(back.origin + back.pathname, callback);
    const { body } = await exchange(issuer, back.searchParams.get('code') ?? '', verifier, {
      client_id: 'methods-dashboard',
      redirect_uri: callback,
    });
    const claims = await verified(issuer, body.id_token ?? '', 'methods-dashboard', 'id');
    assert.equal(claims.nonce, 'nonce-1');
    assert.equal(claims.org_name, 'Ärzte & Co');
    assert.match(String(claims.org_id), /^org\.[0-9a-f]{24}$/);
    assert.equal(claims.email, ADA.email);
    assert.equal(claims.name, 'Ada Lovelace');
    assert.equal('role' in claims, false);
    await assert.rejects(verified(issuer, body.access_token ?? '', MACHINE), /Invalid Compact JWS/);
  });

  test('asks each time who signs in, even in a browser that has signed in', async () => {
    const browser = new Browser();
    const { challenge } = pkce();
    const first = await signIn(authorizeUrl(issuer, challenge), ADA, browser);
    assert.ok(first.searchParams.get('code'));
    const login = await browser.open(authorizeUrl(issuer, challenge));
    assert.match(login.text, /name="email" type="email" value="ada.lovelace@example.com"/);
    const grace = { email: 'grace@example.com', organization: 'Navy', role: 'viewer' };
    // Another person: the session of the first one ends before.
    let page = await browser.submit(login, grace);
    while (page.status === 200 && !page.text.includes('grace@example.com')) page = await browser.submit(page);
    assert.match(page.text, /Allow access\?/);
    const back = new URL((await browser.submit(page)).url);
    assert.ok(back.searchParams.get('code'), page.text);
  });

  test('names the same person by the same id, and another in another organization', async () => {
    const subjectOf = async (person: typeof ADA) =>
      (await verified(issuer, (await tokens({}, person)).access_token ?? '', MACHINE)).sub;
    const [first, again, elsewhere] = [
      await subjectOf(ADA),
      await subjectOf({ ...ADA, email: 'ADA.Lovelace@example.com', organization: 'LOCAL', role: '' }),
      await subjectOf({ ...ADA, organization: 'Other' }),
    ];
    assert.equal(again, first);
    assert.notEqual(elsewhere, first);
  });

  test('is refused without PKCE, and with any method but S256', async () => {
    const { challenge } = pkce();
    for (const over of [
      { code_challenge: null, code_challenge_method: null },
      { code_challenge_method: 'plain' },
      { code_challenge_method: null },
    ]) {
      const back = new URL((await new Browser().open(authorizeUrl(issuer, challenge, over))).url);
      assert.equal(back.searchParams.get('error'), 'invalid_request', JSON.stringify(over));
    }
  });

  test('is refused for a resource that is not ours, and for none', async () => {
    const { challenge } = pkce();
    for (const resource of ['https://evil.example/', `${MACHINE}/`, null]) {
      const back = new URL((await new Browser().open(authorizeUrl(issuer, challenge, { resource }))).url);
      assert.equal(back.searchParams.get('error'), 'invalid_target', String(resource));
    }
  });

  test('sends no one to an address that the client did not name', async () => {
    const { challenge } = pkce();
    for (const redirect_uri of ['http://127.0.0.1:53682/other', 'https://evil.example/callback']) {
      const page = await new Browser().open(authorizeUrl(issuer, challenge, { redirect_uri }));
      assert.equal(page.status, 400);
      assert.match(page.text, /redirect_uri/);
    }
  });

  test('gives a code that works once, with its verifier and its address', async () => {
    const codeFor = async (challenge: string) =>
      (await signIn(authorizeUrl(issuer, challenge))).searchParams.get('code') ?? '';
    const first = pkce();
    const wrong = await exchange(issuer, await codeFor(first.challenge), pkce().verifier);
    assert.equal(wrong.body.error, 'invalid_grant');
    const code = await codeFor(first.challenge);
    const both = await Promise.all([exchange(issuer, code, first.verifier), exchange(issuer, code, first.verifier)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400]);
    assert.equal((await exchange(issuer, code, first.verifier)).body.error, 'invalid_grant');
  });

  test('continues by refresh tokens, each valid once', async () => {
    const { refresh_token: first = '' } = await tokens({ resource: MCP });
    const refresh = (refresh_token: string, over: Record<string, string> = {}) =>
      post(`${issuer}/token`, { grant_type: 'refresh_token', client_id: 'methods-cli', refresh_token, ...over });
    const second = await refresh(first);
    assert.equal(second.status, 200, JSON.stringify(second.body));
    assert.equal((await verified(issuer, second.body.access_token ?? '', MCP)).org_id, 'local');
    assert.notEqual(second.body.refresh_token, first);
    assert.equal((await refresh(first)).body.error, 'invalid_grant');
    // Two holders of one token: neither may continue.
    assert.equal((await refresh(second.body.refresh_token ?? '')).body.error, 'invalid_grant');
    const other = await tokens({ resource: MCP });
    assert.equal((await refresh(other.refresh_token ?? '', { resource: MACHINE })).body.error, 'invalid_target');
  });

  test('ends when its refresh token is revoked', async () => {
    const { refresh_token: token = '' } = await tokens();
    const client_id = 'methods-cli';
    assert.equal((await post(`${issuer}/token/revocation`, { client_id, token })).status, 200);
    const refreshed = await post(`${issuer}/token`, { grant_type: 'refresh_token', client_id, refresh_token: token });
    assert.equal(refreshed.body.error, 'invalid_grant');
  });

  test('survives a restart: keys, refresh tokens and pending sign-ins', async () => {
    const { access_token: access = '', refresh_token: refresh = '' } = await tokens();
    const { verifier, challenge } = pkce();
    const browser = new Browser();
    const login = await browser.open(authorizeUrl(issuer, challenge));
    await running.again();
    await verified(issuer, access, MACHINE);
    const refreshed = await post(`${issuer}/token`, {
      grant_type: 'refresh_token',
      client_id: 'methods-cli',
      refresh_token: refresh,
    });
    assert.equal(refreshed.status, 200);
    const back = new URL((await browser.submit(await browser.submit(login, ADA))).url);
    assert.equal((await exchange(issuer, back.searchParams.get('code') ?? '', verifier)).status, 200);
  });

  test('can be given up', async () => {
    const browser = new Browser();
    const login = await browser.open(authorizeUrl(issuer, pkce().challenge));
    const cancel = /formaction="([^"]+)"/.exec(login.text)?.[1] ?? '';
    const back = new URL((await browser.submit(login, {}, cancel)).url);
    assert.equal(back.searchParams.get('error'), 'access_denied');
  });

  test('ends at the dashboard’s own address after a sign-out', async () => {
    const browser = new Browser();
    await signIn(authorizeUrl(issuer, pkce().challenge), ADA, browser);
    const out = { client_id: 'methods-dashboard', post_logout_redirect_uri: `${BASE}/` };
    const question = await browser.open(`${issuer}/session/end?${new URLSearchParams(out)}`);
    assert.equal((await browser.submit(question, { logout: 'yes' })).url, `${BASE}/`);
    const foreign = { ...out, post_logout_redirect_uri: 'https://evil.example/' };
    assert.equal((await browser.open(`${issuer}/session/end?${new URLSearchParams(foreign)}`)).status, 400);
  });
});
