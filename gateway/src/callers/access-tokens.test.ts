import assert from 'node:assert/strict';
import { createPrivateKey, createSecretKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { newSigningKey, type TestAlgorithm } from '@methods/test/harness/test-issuer';
import { until } from '@methods/test/harness/until';
import { exportSPKI, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { MACHINE, MCP, PUBLIC_URL } from '../testing/issuer-config.fixture.ts';
import { type ProbeFixture, probeFixture } from '../testing/probe.fixture.ts';
import { turnedClock } from '../testing/turned-clock.fixture.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const nowS = () => Math.floor(Date.now() / 1_000);

/** Returns tokens that open nothing, with the reason of each. */
async function craftedTokens({ issuer }: ProbeFixture): Promise<Record<string, [token: string, refusal: string]>> {
  const aud = MACHINE;
  const es = issuer.keys.find(({ alg }) => alg === 'ES256');
  const rs = issuer.keys.find(({ alg }) => alg === 'RS256');
  assert.ok(es && rs);
  const stranger = await newSigningKey('ES256');
  const strangerRs = await newSigningKey('RS256');
  const good = await issuer.token({ aud });
  const [head = '', body = '', signature = ''] = good.split('.');
  const claims = { iss: issuer.url, sub: 'ada', aud, org_id: 'acme', exp: nowS() + 60 };
  const publicPem = await exportSPKI((await importJWK(rs.publicJwk, 'RS256')) as never);
  const withHeader = (header: object) =>
    `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${body}.${signature}`;
  const hmac = (secret: string | Uint8Array, header: object = {}) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: rs.kid, ...header })
      .sign(createSecretKey(Buffer.from(secret)));
  const otherAlgorithm = (alg: string, kid: string) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    return new SignJWT(claims)
      .setProtectedHeader({ alg, kid })
      .sign(createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })));
  };
  return {
    'alg none': [new UnsecuredJWT(claims).encode(), 'token_algorithm'],
    'alg none with the signature of a good one': [withHeader({ alg: 'none', kid: es.kid }), 'token_algorithm'],
    'alg NONE': [withHeader({ alg: 'NONE', kid: es.kid }), 'token_algorithm'],
    'alg empty': [withHeader({ alg: '', kid: es.kid }), 'malformed'],
    'no alg': [withHeader({ kid: es.kid }), 'malformed'],
    'HS256 with the public key as secret': [await hmac(publicPem), 'token_algorithm'],
    'HS256 with the public JWK as secret': [await hmac(JSON.stringify(rs.publicJwk)), 'token_algorithm'],
    'HS256 with the key id as secret': [await hmac(rs.kid.padEnd(32, 'x')), 'token_algorithm'],
    'PS256 under the RS256 key': [await otherAlgorithm('PS256', rs.kid), 'token_algorithm'],
    'RS512 under the RS256 key': [await otherAlgorithm('RS512', rs.kid), 'token_algorithm'],
    'signed by another key of the same id': [
      await issuer.token({ aud }, { key: stranger.privateKey }),
      'token_signature',
    ],
    'signed by another key of its own id': [
      await issuer.token({ aud }, { key: stranger.privateKey, header: { kid: stranger.kid } }),
      'token_key_unknown',
    ],
    'signed RS256 by another key': [
      await issuer.token({ aud }, { alg: 'RS256', key: strangerRs.privateKey }),
      'token_signature',
    ],
    'key id of another algorithm': [await issuer.token({ aud }, { header: { kid: rs.kid } }), 'token_key_unknown'],
    'key id that is a path': [await issuer.token({ aud }, { header: { kid: '../../dev/null' } }), 'token_key_unknown'],
    'key id that is SQL': [await issuer.token({ aud }, { header: { kid: "x' or '1'='1" } }), 'token_key_unknown'],
    'own key in the header (jwk)': [
      await issuer.token({ aud }, { key: stranger.privateKey, header: { jwk: stranger.publicJwk, kid: stranger.kid } }),
      'token_key_unknown',
    ],
    'own key by address (jku)': [
      await issuer.token(
        { aud },
        { key: stranger.privateKey, header: { jku: `${issuer.url}/jku`, kid: stranger.kid } },
      ),
      'token_key_unknown',
    ],
    'own key by address (x5u)': [
      await issuer.token(
        { aud },
        { key: stranger.privateKey, header: { x5u: `${issuer.url}/x5u`, kid: stranger.kid } },
      ),
      'token_key_unknown',
    ],
    'own chain in the header (x5c)': [
      await issuer.token({ aud }, { key: stranger.privateKey, header: { x5c: ['MIIB'], kid: stranger.kid } }),
      'token_key_unknown',
    ],
    'unknown critical header': [
      await issuer
        .token({ aud }, { header: { crit: ['x'], x: 1 } })
        .catch(() => withHeader({ alg: 'ES256', kid: es.kid, crit: ['x'], x: 1 })),
      'malformed',
    ],
    'other issuer': [await issuer.token({ aud, iss: 'https://id.example' }), 'token_issuer'],
    'issuer with a slash more': [await issuer.token({ aud, iss: `${issuer.url}/` }), 'token_issuer'],
    'no issuer': [await issuer.token({ aud, iss: undefined }), 'token_issuer'],
    'other audience': [await issuer.token({ aud: 'https://other.example/api' }), 'token_audience'],
    'audience with a slash more': [await issuer.token({ aud: `${MACHINE}/` }), 'token_audience'],
    'the server as audience': [await issuer.token({ aud: PUBLIC_URL }), 'token_audience'],
    'no audience': [await issuer.token({}), 'token_audience'],
    'audience in other case': [await issuer.token({ aud: MACHINE.toUpperCase() }), 'token_audience'],
    'ID token': [
      await issuer.token({ aud: issuer.clientId, nonce: 'n' }, { header: { typ: 'JWT' } }),
      'token_audience',
    ],
    'ID token made for us': [
      await issuer.token({ aud: [issuer.clientId, MACHINE], nonce: 'n' }, { header: { typ: 'JWT' } }),
      'token_type',
    ],
    'ID token by its hash': [await issuer.token({ aud, at_hash: 'x' }, { header: { typ: undefined } }), 'token_type'],
    'logout token': [await issuer.token({ aud }, { header: { typ: 'logout+jwt' } }), 'token_type'],
    expired: [await issuer.token({ aud, exp: nowS() - 60 }), 'token_expired'],
    'expired long ago': [await issuer.token({ aud, exp: 1 }), 'token_expired'],
    'without an end': [await issuer.token({ aud, exp: undefined }), 'token_claims'],
    'end that is a text': [
      await issuer.token({ aud, exp: '9999999999' as never }).catch(() => 'a.b.c'),
      'token_claims',
    ],
    'not yet valid': [await issuer.token({ aud, nbf: nowS() + 600 }), 'token_not_yet_valid'],
    'no subject': [await issuer.token({ aud, sub: undefined }), 'token_claims'],
    'another body': [
      `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: 'eve' })).toString('base64url')}.${signature}`,
      'token_signature',
    ],
    'no signature': [`${head}.${body}.`, 'token_signature'],
    'half a signature': [`${head}.${body}.${signature.slice(0, 20)}`, 'token_signature'],
    'body that is a list': [`${head}.${Buffer.from('[]').toString('base64url')}.${signature}`, 'token_signature'],
    'header that is no JSON': [`${Buffer.from('{').toString('base64url')}.${body}.${signature}`, 'malformed'],
    'two parts': [`${head}.${body}`, 'malformed'],
    'five parts': [`${good}.x.y`, 'malformed'],
    garbage: ['garbage', 'malformed'],
    huge: [await issuer.token({ aud, filler: 'x'.repeat(9_000) }), 'malformed'],
  };
}

test('no crafted token opens any surface, and none makes the gateway request an address it names', async () => {
  await using probes = await probeFixture();
  const crafted = await craftedTokens(probes);
  assert.ok(Object.keys(crafted).length >= 40);
  for (const [name, [token, refusal]] of Object.entries(crafted)) {
    for (const path of ['/v1/viewer', '/api/cli/viewer', '/api/viewer']) {
      const { status, body, headers } = await probes.ask('GET', path, bearer(token));
      assert.deepEqual([status, body], [401, { error: 'unauthorized' }], `${name} at ${path}`);
      assert.match(String(headers['www-authenticate']), /^Bearer/);
      assert.equal(probes.log.at(-1)?.refusal, refusal, name);
    }
  }
  assert.deepEqual([...new Set(probes.issuer.asked)].sort(), ['/.well-known/openid-configuration', '/jwks']);
  assert.ok(probes.issuer.count('/jwks') <= 2, 'unknown keys are asked for once in a while');
  assert.equal(probes.registry.count('ensureUser'), 0);
  const text = JSON.stringify(probes.log);
  for (const [token] of Object.values(crafted)) assert.ok(token.length < 20 || !text.includes(token));
});

test('good tokens of every algorithm and type open their surfaces and no others', async () => {
  await using probes = await probeFixture();
  for (const alg of ['RS256', 'ES256', 'EdDSA'] as TestAlgorithm[]) {
    for (const typ of ['at+jwt', 'application/at+jwt', 'JWT', undefined]) {
      const token = await probes.issuer.token({ aud: [MACHINE] }, { alg, header: { typ } });
      assert.equal((await probes.ask('GET', '/api/viewer', bearer(token))).status, 200, `${alg} ${typ}`);
    }
  }
  const statuses = async (aud: string[]) => {
    const token = await probes.issuer.token({ aud });
    const asked = ['/v1/viewer', '/api/cli/viewer', '/api/viewer'].map((path) =>
      probes.ask('GET', path, bearer(token)),
    );
    return (await Promise.all(asked)).map(({ status, body }) => [status, body.credential]);
  };
  assert.deepEqual(await statuses([MACHINE]), Array(3).fill([200, 'machine_token']));
  assert.deepEqual(await statuses([MCP]), [
    [401, undefined],
    [401, undefined],
    [200, 'mcp_token'],
  ]);
  assert.deepEqual(await statuses([MCP, MACHINE]), Array(3).fill([200, 'machine_token']));
});

test('a token without an organization gets an explicit error, and creates no user', async () => {
  await using probes = await probeFixture();
  for (const org_id of [undefined, '', 5.5, ['acme'], 'x'.repeat(257), 'a\0b']) {
    const token = await probes.issuer.token({ aud: MACHINE, org_id });
    const { status, body } = await probes.ask('GET', '/api/viewer', bearer(token));
    assert.deepEqual([status, body.error], [403, 'forbidden']);
    assert.match(body.message, /org_id/);
  }
  assert.equal(probes.registry.accounts.people.length, 0);
});

test('a token in use is verified once and its person looked up once', async () => {
  await using probes = await probeFixture();
  const token = await probes.issuer.token({ aud: MACHINE });
  for (let i = 0; i < 20; i++) await probes.ask('GET', '/api/viewer', bearer(token));
  assert.equal(probes.registry.count('ensureUser'), 1);
  assert.equal(probes.issuer.count('/jwks'), 1);
});

test('a remembered token ends when it expires', async () => {
  const { clock, turn } = turnedClock();
  await using probes = await probeFixture({ clock });
  const token = await probes.issuer.token({ aud: MACHINE, exp: nowS() + 100 });
  assert.equal((await probes.ask('GET', '/api/viewer', bearer(token))).status, 200);
  probes.issuer.away = true;
  turn(110_000);
  assert.equal((await probes.ask('GET', '/api/viewer', bearer(token))).status, 401);
});

test('while the issuer is unavailable its known keys keep working, unknown ones get 503', async () => {
  const { clock, turn } = turnedClock();
  await using probes = await probeFixture({ clock });
  const status = async (token: string) => (await probes.ask('GET', '/api/viewer', bearer(token))).status;
  probes.issuer.away = true;
  const early = await probes.issuer.token({ aud: MACHINE });
  const refused = await probes.ask('GET', '/api/viewer', bearer(early));
  assert.deepEqual([refused.status, refused.body.error], [503, 'unavailable']);
  assert.ok(Number(refused.headers['retry-after']) >= 1);

  probes.issuer.away = false;
  turn(5_000);
  assert.equal(await status(early), 200);
  probes.issuer.away = true;
  turn(1_200_000);
  assert.equal(await status(await probes.issuer.token({ aud: MACHINE, sub: 'bea', exp: nowS() + 9_000 })), 200);
  await probes.issuer.rotate();
  const late = await probes.issuer.token({ aud: MACHINE, exp: nowS() + 9_000 });
  assert.equal(await status(late), 503);
  probes.issuer.away = false;
  turn(5_000);
  assert.equal(await status(late), 200);
});

test('a key that the issuer withdraws ends its tokens within minutes', async () => {
  const { clock, turn } = turnedClock();
  await using probes = await probeFixture({ clock });
  const old = await probes.issuer.token({ aud: MACHINE, exp: nowS() + 9_000 });
  const status = async () => (await probes.ask('GET', '/api/viewer', bearer(old))).status;
  assert.equal(await status(), 200);
  await probes.issuer.rotate();
  turn(310_000);
  await until('the withdrawn key is refused', async () => {
    turn(11_000);
    return (await status()) === 401;
  });
});

test('many tokens with unknown keys ask the issuer once in ten seconds', async () => {
  await using probes = await probeFixture();
  const stranger = await newSigningKey('ES256');
  const flood = Array.from({ length: 50 }, async (_, n) => {
    const token = await probes.issuer.token({ aud: MACHINE }, { key: stranger.privateKey, header: { kid: `k${n}` } });
    return (await probes.ask('GET', '/api/viewer', bearer(token))).status;
  });
  assert.deepEqual(new Set(await Promise.all(flood)), new Set([401]));
  assert.ok(probes.issuer.count('/jwks') <= 2, String(probes.issuer.count('/jwks')));
});
