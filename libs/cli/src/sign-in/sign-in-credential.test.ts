import { equal, rejects } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

test('an issuer that answers with a failure of its proxy ends no sign-in before its time', async (t) => {
  const config = { stateDir: tempFolder('sign-in'), keyring: false };
  const replies = createServer((_, response) => response.writeHead(502).end('<html>Bad gateway</html>'));
  await new Promise<void>((resolve) => replies.listen(0, '127.0.0.1', resolve));
  t.after(() => replies.close());
  const issuer = `http://127.0.0.1:${(replies.address() as AddressInfo).port}`;
  const server = 'http://127.0.0.1:1';
  const { signal } = new AbortController();
  const credentialFor = async (leftMs: number) => {
    const tokens = { accessToken: 'due', refreshToken: 'next', expiresAtMs: Date.now() + leftMs };
    await new SignInStore(config).write({ server, issuer, clientId: 'methods-cli', resource: null, ...tokens });
    return signInCredential(server, issuer, config);
  };
  const due = await credentialFor(50_000);
  equal(await due?.bearer(signal), 'due');
  // A token that the server has refused counts for nothing.
  await rejects(async () => due?.renew(signal, 'due'), { code: 'unreachable' });
  const over = await credentialFor(-1);
  await rejects(async () => over?.bearer(signal), {
    code: 'unreachable',
    message: `the issuer at ${issuer} answers 502`,
  });
});
