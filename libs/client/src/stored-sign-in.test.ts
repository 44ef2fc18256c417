// A laptop without a key: the sign-in that the command line keeps in a file.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { findAccess } from './credential.ts';
import { Requests } from './requests.ts';
import { isStarted } from './run.ts';

const SERVER = 'https://methods.test';
const AUDIENCE = `${SERVER}/api`;
const stateDir = mkdtempSync(join(tmpdir(), 'methods-sign-in-'));
const surroundings = { apiKey: undefined, server: undefined, stateDir };
const tokenFor = (audience: string, n: number) =>
  `h.${Buffer.from(JSON.stringify({ aud: audience, n })).toString('base64url')}.s`;

/** An issuer whose refresh tokens are valid once. */
const issuer = { refreshes: 0, valid: 'refresh-0', audience: AUDIENCE, status: 200 };
let address: string;
const server = createServer((request, response) => {
  const json = (value: object, status = 200) => response.writeHead(status).end(JSON.stringify(value));
  if (issuer.status !== 200) return void json({ error: 'too_many_requests' }, issuer.status);
  if (request.method === 'GET') return void json({ issuer: address, token_endpoint: `${address}/token` });
  let text = '';
  request.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  request.once('end', () => {
    const form = new URLSearchParams(text);
    assert.deepEqual([form.get('client_id'), form.get('resource')], ['cli', AUDIENCE]);
    if (form.get('refresh_token') !== issuer.valid) return json({ error: 'invalid_grant' }, 400);
    issuer.valid = `refresh-${++issuer.refreshes}`;
    return json({
      access_token: tokenFor(issuer.audience, issuer.refreshes),
      refresh_token: issuer.valid,
      expires_in: 600,
    });
  });
});

before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(stateDir, { recursive: true });
});
beforeEach(() => Object.assign(issuer, { refreshes: 0, valid: 'refresh-0', audience: AUDIENCE, status: 200 }));

function file(): string {
  const name = createHash('sha256').update(`${address}\n${SERVER}`).digest('hex').slice(0, 16);
  return join(stateDir, 'methods/sign-ins', `${name}.json`);
}

function signedIn(expiresInMs: number, more: object = {}): void {
  mkdirSync(join(stateDir, 'methods/sign-ins'), { recursive: true });
  const place = { server: SERVER, issuer: address };
  writeFileSync(join(stateDir, 'methods/sign-ins.json'), JSON.stringify({ last: place, known: [place] }));
  const kept = { ...place, clientId: 'cli', resource: AUDIENCE, accessToken: tokenFor(AUDIENCE, 0) };
  const all = { ...kept, refreshToken: 'refresh-0', expiresAtMs: Date.now() + expiresInMs, ...more };
  writeFileSync(file(), JSON.stringify(all));
}

test('without a key the sign-in of the server, or the last one, is used as long as it is fresh', async () => {
  signedIn(600_000);
  for (const baseUrl of [undefined, `${SERVER}/`]) {
    const { credential, baseUrl: found } = findAccess({ baseUrl }, surroundings);
    assert.deepEqual([credential.isKey, await credential.bearer(), found], [false, tokenFor(AUDIENCE, 0), SERVER]);
  }
  assert.throws(() => findAccess({ baseUrl: 'https://other.test' }, surroundings), { code: 'no_key' });
  assert.equal(issuer.refreshes, 0);
});

test('an old sign-in is renewed once for all calls, and stored before it is used', async () => {
  signedIn(1_000);
  const { credential } = findAccess({}, surroundings);
  const bearers = await Promise.all([credential.bearer(), credential.bearer()]);
  assert.deepEqual(bearers, [tokenFor(AUDIENCE, 1), tokenFor(AUDIENCE, 1)]);
  const kept = JSON.parse(readFileSync(file(), 'utf8')) as { refreshToken: string; accessToken: string };
  assert.deepEqual([kept.refreshToken, kept.accessToken], ['refresh-1', tokenFor(AUDIENCE, 1)]);
  // After a 401 it is renewed although it is fresh by the clock.
  assert.equal(await credential.renew?.(tokenFor(AUDIENCE, 1)), true);
  assert.equal(await credential.bearer(), tokenFor(AUDIENCE, 2));
  // A refusal that arrives late, of a token that was replaced meanwhile.
  assert.equal(await credential.renew?.(tokenFor(AUDIENCE, 1)), true);
  assert.equal(issuer.refreshes, 2);
});

test('a sign-in that is over, for another server, or in the keyring is a typed error', async () => {
  const bearer = async () => findAccess({}, surroundings).credential.bearer();
  signedIn(-1, { refreshToken: null });
  await assert.rejects(bearer(), { name: 'ConfigurationError', code: 'sign_in_over' });
  signedIn(-1, { refreshToken: 'used' });
  await assert.rejects(bearer(), { code: 'sign_in_over' });
  signedIn(-1);
  issuer.audience = 'https://other.test/api';
  await assert.rejects(bearer(), { code: 'bad_issuer' });
  issuer.status = 503;
  await assert.rejects(bearer(), { name: 'ConnectionError' });
  // Too many requests, perhaps of others.
  issuer.status = 429;
  await assert.rejects(bearer(), { name: 'ConnectionError' });
  // An issuer that is briefly unavailable ends no sign-in early.
  signedIn(1_000);
  assert.equal(await bearer(), tokenFor(AUDIENCE, 0));
  rmSync(file());
  await assert.rejects(bearer(), { code: 'sign_in_in_keyring' });
  signedIn(-1);
  const { credential } = findAccess({}, surroundings);
  rmSync(join(stateDir, 'methods/sign-ins'), { recursive: true });
  const unwritable = { name: 'ConfigurationError', code: 'sign_in_not_stored', message: /ENOENT/ };
  await assert.rejects(async () => credential.bearer(), unwritable);
});

test('a request whose token was refused outlasts an issuer that cannot be reached', async () => {
  // By this clock the token is valid, and even that of a sign-in that is not fresh any more counts for nothing.
  for (const leftMs of [600_000, 1_000]) {
    signedIn(leftMs);
    Object.assign(issuer, { refreshes: 0, valid: 'refresh-0', status: 503 });
    const { credential, baseUrl } = findAccess({}, surroundings);
    const refusals: string[] = [];
    const run = { run_id: 'run_1', status: 'queued' };
    const requests = new Requests({
      ...{ baseUrl, credential, timeoutMs: 10_000, maxRetries: 2 },
      log: () => {},
      fetch: async (_url, init) => {
        const sent = new Headers(init?.headers).get('authorization') ?? '';
        if (sent === `Bearer ${tokenFor(AUDIENCE, 1)}`) return Response.json(run);
        refusals.push(sent);
        if (refusals.length === 2) issuer.status = 200;
        return Response.json({ error: 'unauthorized', message: 'No.' }, { status: 401 });
      },
    });
    const read = { verb: 'GET', path: '/v1/runs/run_1', is: isStarted } as const;
    assert.deepEqual(await requests.send(read), run);
    assert.deepEqual(refusals, [`Bearer ${tokenFor(AUDIENCE, 0)}`, `Bearer ${tokenFor(AUDIENCE, 0)}`]);
    issuer.status = 503;
    signedIn(leftMs);
    const fresh = findAccess({}, surroundings).credential;
    const hasty = new Requests({ ...requests.settings, credential: fresh, maxRetries: 0 });
    // Not that the sign-in is refused: it may be renewed a moment later.
    await assert.rejects(hasty.send({ ...read, path: '/v1/runs/run_2' }), { code: 'unreachable' });
  }
});

test('requests whose token was refused share its renewal, however late their refusals arrive', async () => {
  signedIn(600_000);
  const { credential, baseUrl } = findAccess({}, surroundings);
  const run = { run_id: 'run_1', status: 'queued' };
  let refuseLate = () => {};
  const late = new Promise<void>((resolve) => {
    refuseLate = resolve;
  });
  const requests = new Requests({
    ...{ baseUrl, credential, timeoutMs: 10_000, maxRetries: 0 },
    log: () => {},
    fetch: async (url, init) => {
      const sent = new Headers(init?.headers).get('authorization') ?? '';
      if (sent !== `Bearer ${tokenFor(AUDIENCE, 0)}`) return Response.json(run);
      if (String(url).endsWith('/late')) await late;
      return Response.json({ error: 'unauthorized', message: 'No.' }, { status: 401 });
    },
  });
  const read = (path: string) => requests.send({ verb: 'GET', path, is: isStarted });
  const slow = read('/late');
  assert.deepEqual(await read('/early'), run);
  refuseLate();
  assert.deepEqual(await slow, run);
  assert.equal(issuer.refreshes, 1);
});

test('a request whose token was refused is renewed beside a renewal that keeps the token', async () => {
  signedIn(1_000);
  const { credential } = findAccess({}, surroundings);
  issuer.status = 503;
  // It keeps the token, which is valid by this clock.
  const other = credential.bearer();
  const refused = credential.renew?.(tokenFor(AUDIENCE, 0));
  await assert.rejects(async () => refused, { code: 'unreachable' });
  assert.equal(await other, tokenFor(AUDIENCE, 0));
  issuer.status = 200;
  const renew = () => credential.renew?.(tokenFor(AUDIENCE, 0));
  const renewals = [credential.bearer(), renew(), renew(), credential.bearer()];
  assert.deepEqual((await Promise.all(renewals)).slice(1, 3), [true, true]);
});
