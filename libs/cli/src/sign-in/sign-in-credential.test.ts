import { equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { signInCredential } from './sign-in-credential.ts';
import { SignInStore } from './sign-in-store.ts';

test('of requests that were refused with the same token, only the first renews it', async () => {
  const config = { stateDir: tempFolder('sign-in'), keyring: false };
  // Nothing listens there, so each renewal fails.
  const [server, issuer] = ['http://127.0.0.1:1', 'http://127.0.0.1:1/issuer'];
  const tokens = { accessToken: 'fresh', refreshToken: 'next', expiresAtMs: 0 };
  await new SignInStore(config).write({ server, issuer, clientId: 'methods-cli', resource: null, ...tokens });
  const credential = await signInCredential(server, issuer, config);
  const { signal } = new AbortController();
  equal(await credential?.renew(signal, 'expired'), true);
  await rejects(async () => credential?.renew(signal, 'fresh'));
});
