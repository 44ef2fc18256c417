import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTokenAudience, serverAudience } from './issuer-client.ts';

const SERVER = 'https://methods.example';

for (const [server, told] of [
  [SERVER, 'https://methods.example/api'],
  [SERVER, 'https://METHODS.example:443/api'],
  ['https://methods.example/inside', 'https://methods.example/inside/api'],
  ['http://localhost:4600', 'http://127.0.0.1:4600/api'],
  ['http://127.0.0.1:9000', 'http://[::1]:4600/api'],
] as const) {
  test(`${server} may ask for tokens for ${told}`, () => {
    assert.equal(serverAudience(server, told, undefined), told);
  });
}

for (const [server, told] of [
  [SERVER, 'https://other.example/api'],
  [SERVER, 'http://methods.example/api'],
  [SERVER, 'https://methods.example:8443/api'],
  [SERVER, 'https://methods.example.evil.example/api'],
  [SERVER, 'https://methods.example@evil.example/api'],
  [SERVER, 'http://127.0.0.1:4600/api'],
  ['http://127.0.0.1:4600', 'https://methods.example/api'],
  [SERVER, 'urn:example:methods'],
  ['http://127.0.0.1:4600', 'urn:example:methods'],
  [SERVER, 'methods'],
] as const) {
  test(`${server} may ask for tokens for ${told} only where its person names that too`, () => {
    assert.throws(() => serverAudience(server, told, undefined), { code: 'foreign_audience' });
    assert.throws(() => serverAudience(server, told, `${told}x`), { code: 'foreign_audience' });
    assert.equal(serverAudience(server, told, told), told);
  });
}

test('a server that names no audience has no sign-in', () => {
  assert.throws(() => serverAudience(SERVER, null, undefined), { code: 'no_issuer' });
});

test('a token is accepted only if it is for the requested audience', () => {
  const audience = 'https://methods.example/api';
  const token = (claims: unknown) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
  for (const aud of [audience, ['https://issuer.example/userinfo', audience]])
    checkTokenAudience(token({ aud }), audience);
  const others = [{}, { aud: 'https://other.example/api' }, { aud: [`${audience}/`] }, { aud: [[audience]] }, null, 7];
  for (const text of [...others.map(token), 'opaque', '', 'a.b.c', `x.${audience}.y`]) {
    assert.throws(() => checkTokenAudience(text, audience), { code: 'foreign_audience' });
  }
});
