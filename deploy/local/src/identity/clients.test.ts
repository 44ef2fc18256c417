import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Browser } from './testing/browser.fixture.ts';
import {
  ADA,
  authorizeUrl,
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

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

describe('clients of the development identity provider', () => {
  let running: RunningProvider;
  let issuer: string;

  before(async () => {
    running = await runningProvider();
    issuer = running.issuer;
  });
  after(() => running.stop());

  async function register(metadata: object): Promise<string> {
    const response = await fetch(`${issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token_endpoint_auth_method: 'none', ...metadata }),
    });
    assert.equal(response.status, 201);
    return ((await response.json()) as { client_id: string }).client_id;
  }

  test('read its metadata, in both forms', async () => {
    for (const name of ['openid-configuration', 'oauth-authorization-server']) {
      const document = (await (await fetch(`${issuer}/.well-known/${name}`)).json()) as Record<string, unknown>;
      assert.equal(document.issuer, issuer);
      assert.deepEqual(document.code_challenge_methods_supported, ['S256']);
      assert.equal(document.client_id_metadata_document_supported, true);
      assert.equal(document.registration_endpoint, `${issuer}/reg`);
      assert.equal(document.device_authorization_endpoint, `${issuer}/device/auth`);
      assert.equal(document.revocation_endpoint, `${issuer}/token/revocation`);
      assert.deepEqual(document.response_types_supported, ['code']);
    }
    const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as { keys: { alg: string }[] };
    assert.deepEqual(keys.map(({ alg }) => alg).sort(), ['ES256', 'RS256']);
    assert.ok(keys.every((key) => !('d' in key)));
  });

  describe('without a browser', () => {
    const ask = (over: Record<string, string> = {}) =>
      post(`${issuer}/device/auth`, {
        client_id: 'methods-cli',
        scope: 'openid profile email offline_access',
        resource: MACHINE,
        ...over,
      });
    const poll = (deviceCode: string) =>
      post(`${issuer}/token`, { grant_type: DEVICE_CODE, client_id: 'methods-cli', device_code: deviceCode });

    test('are signed in by a person who types their code and sees which client asks', async () => {
      const { body: asked } = await ask();
      assert.equal(asked.verification_uri, `${issuer}/device`);
      assert.equal(asked.expires_in, 600);
      const deviceCode = String(asked.device_code);
      assert.equal((await poll(deviceCode)).body.error, 'authorization_pending');

      const browser = new Browser();
      const entry = await browser.open(`${issuer}/device`);
      const unknown = await browser.submit(entry, { user_code: 'BBBB-BBBB' });
      assert.match(unknown.text, /This code is not known/);
      const question = await browser.submit(unknown, { user_code: String(asked.user_code) });
      assert.match(question.text, /methods command line/);
      assert.match(question.text, /127\.0\.0\.1/);
      assert.ok(question.text.includes(String(asked.user_code)));
      assert.equal((await poll(deviceCode)).body.error, 'authorization_pending');

      const login = await browser.submit(question, { confirm: 'yes' });
      assert.match(login.text, /Sign in/);
      const consent = await browser.submit(login, ADA);
      assert.ok(consent.text.includes(MACHINE));
      const done = await browser.submit(consent);
      assert.match(done.text, /Your device is signed in/);

      const { body } = await poll(deviceCode);
      assert.equal((await verified(issuer, body.access_token ?? '', MACHINE)).email, ADA.email);
      assert.ok(body.refresh_token);
      assert.equal((await poll(deviceCode)).body.error, 'invalid_grant');
      const later = await browser.open(`${issuer}/device`);
      assert.match(
        (await browser.submit(later, { user_code: String(asked.user_code) })).text,
        /not known|used already/,
      );
    });

    test('are notified when the person refuses', async () => {
      const { body: asked } = await ask();
      const browser = new Browser();
      // The link that contains the code: a page that submits itself, or has a button without scripts.
      const link = await browser.open(String(asked.verification_uri_complete));
      assert.match(link.headers.get('content-security-policy') ?? '', /script-src 'none' 'sha256-/);
      const question = await browser.submit(link);
      assert.match((await browser.submit(question, { abort: 'yes' })).text, /stopped/);
      assert.equal((await poll(String(asked.device_code))).body.error, 'access_denied');
    });

    test('are refused without a resource or with a foreign one', async () => {
      assert.equal((await ask({ resource: 'https://evil.example/' })).body.error, 'invalid_target');
      const without = await post(`${issuer}/device/auth`, { client_id: 'methods-cli', scope: 'openid' });
      assert.equal(without.body.error, 'invalid_target');
    });
  });

  test('register themselves, and their names are shown as text', async () => {
    const callback = 'https://agent.example/callback';
    const client_id = await register({
      client_name: '<script>alert(1)</script>"',
      redirect_uris: [callback],
      grant_types: ['authorization_code', 'refresh_token'],
    });
    const { verifier, challenge } = pkce();
    const browser = new Browser();
    const url = authorizeUrl(issuer, challenge, { client_id, redirect_uri: callback, resource: MCP });
    const login = await browser.open(url);
    const consent = await browser.submit(login, { ...ADA, organization: '<b>"Evil"</b>' });
    for (const page of [login, consent]) {
      assert.ok(page.text.includes('&#60;script&#62;'));
      assert.doesNotMatch(page.text, /<script|<b>/);
      const policy = page.headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none'; .*script-src 'none'; .*frame-ancestors 'none'/);
      assert.match(policy, /form-action 'self' https:\/\/agent\.example$/);
    }
    const back = new URL((await browser.submit(consent)).url);
    const code = back.searchParams.get('code') ?? '';
    const { body } = await exchange(issuer, code, verifier, { client_id, redirect_uri: callback });
    const claims = await verified(issuer, body.access_token ?? '', MCP);
    assert.equal(claims.client_id, client_id);
    assert.equal(claims.org_name, '<b>"Evil"</b>');
  });

  test('cannot put anything except an address into a page’s policy', async () => {
    const redirect_uri = 'https://a;script-src/cb';
    const client_id = await register({ redirect_uris: [redirect_uri] });
    const login = await new Browser().open(authorizeUrl(issuer, pkce().challenge, { client_id, redirect_uri }));
    assert.match(login.text, /Sign in/);
    assert.match(login.headers.get('content-security-policy') ?? '', /form-action 'self'$/);
  });

  test('may use any port of their loopback address, and no other address', async () => {
    for (const redirect_uri of ['http://127.0.0.1:1/callback', 'http://localhost:65535/callback']) {
      const back = await signIn(authorizeUrl(issuer, pkce().challenge, { redirect_uri }));
      assert.equal(back.origin + back.pathname, redirect_uri);
    }
  });

  test('get a sentence for each wrong input, and their text back', async () => {
    const browser = new Browser();
    const login = await browser.open(authorizeUrl(issuer, pkce().challenge));
    for (const [fault, typed] of [
      [/Give an e-mail address/, { ...ADA, email: 'nobody' }],
      [/Give an e-mail address/, { ...ADA, email: `${'a'.repeat(250)}@example.com` }],
      [/organization&#39;s name/, { ...ADA, organization: ' ' }],
      [/organization&#39;s name/, { ...ADA, organization: 'x'.repeat(101) }],
      [/A role is one of/, { ...ADA, role: 'owner' }],
    ] as const) {
      const again = await browser.submit(login, typed);
      assert.equal(again.status, 400);
      assert.match(again.text, fault);
    }
  });

  test('are not answered under another name, from another site’s form, or at length', async () => {
    const { port } = new URL(issuer);
    const renamed = await fetch(`http://localhost:${port}/jwks`);
    assert.equal(renamed.status, 421);
    const foreign = await fetch(`${issuer}/interaction/abc/login`, {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' },
      body: 'email=a@b.c',
    });
    assert.equal(foreign.status, 403);
    const over = await fetch(`${issuer}/interaction/abc`);
    assert.equal(over.status, 400);
    assert.match(await over.text(), /This sign-in is over/);
    const browser = new Browser();
    const login = await browser.open(authorizeUrl(issuer, pkce().challenge));
    assert.equal((await browser.submit(login, { ...ADA, email: 'x'.repeat(20_000) })).status, 413);
    const strange = await post(`${issuer}/token`, {
      grant_type: 'refresh_token',
      client_id: 'methods-cli',
      refresh_token: 'a\u0000b',
    });
    assert.equal(strange.body.error, 'invalid_grant');
  });
});
