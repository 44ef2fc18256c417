// The provider as a process: where it refuses to start, and a client known by a document on an https server.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { testPostgres } from '@methods/test/harness/postgres';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { until } from '@methods/test/harness/until';
import { freePort } from '../ports.ts';
import { readConfig } from './config.ts';
import { Browser } from './testing/browser.fixture.ts';
import { ADA, authorizeUrl, BASE, exchange, MACHINE, MCP, pkce, verified } from './testing/running-provider.fixture.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

function provider(environment: Record<string, string>) {
  const env = { PATH: process.env.PATH ?? '', ...environment };
  const child = spawn(process.execPath, nodeArguments(new URL('./main.ts', import.meta.url)), {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return { child, errors: () => errors };
}

function environmentOf(folder: string, postgresUrl: string, port: number): Record<string, string> {
  return {
    METHODS_LOCAL_STACK: '1',
    LISTEN: `127.0.0.1:${port}`,
    POSTGRES_URL: postgresUrl,
    IDENTITY_FOLDER: folder,
    PUBLIC_URL: BASE,
    MACHINE_AUDIENCE: MACHINE,
    MCP_URL: MCP,
  };
}

test('the development identity provider starts only in a local stack, on loopback', async () => {
  const right = environmentOf('folder', 'postgres://nobody@127.0.0.1:1/none', 4999);
  assert.equal(readConfig(right).issuer, 'http://127.0.0.1:4999');
  for (const [environment, sentence] of [
    [{ ...right, METHODS_LOCAL_STACK: '' }, /METHODS_LOCAL_STACK: is not 1; this provider accepts any person/],
    [{ ...right, METHODS_LOCAL_STACK: '0' }, /METHODS_LOCAL_STACK/],
    [{ ...right, LISTEN: '0.0.0.0:4999' }, /LISTEN: must be 127\.0\.0\.1/],
    [{ ...right, LISTEN: '[::]:4999' }, /LISTEN/],
    [{ ...right, LISTEN: '127.0.0.1:0' }, /LISTEN/],
    [{ ...right, LISTEN: '127.0.0.1.example.com:4999' }, /LISTEN/],
  ] as const)
    assert.throws(() => readConfig(environment), sentence);
  const { child, errors } = provider({ ...right, METHODS_LOCAL_STACK: '' });
  assert.deepEqual(await once(child, 'exit'), [1, null]);
  assert.match(errors(), /identity-provider: .*METHODS_LOCAL_STACK: is not 1/s);
});

test('a client may be an https document, even on the developer’s own machine', async () => {
  const folder = tempFolder('identity');
  const database = await (await testPostgres()).freshDatabase();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  execFileSync(
    'openssl',
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout ${key} -out ${cert}`.split(
      ' ',
    ),
    { stdio: 'ignore' },
  );
  let document = {};
  const documents = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  documents.listen(0, '127.0.0.1');
  await once(documents, 'listening');
  const client_id = `https://127.0.0.1:${(documents.address() as AddressInfo).port}/client.json`;
  const redirect_uri = 'https://agent.example/callback';
  document = {
    client_id,
    client_name: 'Agent by document',
    redirect_uris: [redirect_uri],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const { child, errors } = provider({
    ...environmentOf(folder, database.url, port),
    NODE_EXTRA_CA_CERTS: cert,
  });
  const ended = once(child, 'exit');
  try {
    await until('it answers', async () => {
      assert.equal(child.exitCode, null, errors());
      return fetch(`${issuer}/jwks`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
    for (const name of ['keys.json', 'token-secret'])
      assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
    const { verifier, challenge } = pkce();
    const browser = new Browser();
    const login = await browser.open(authorizeUrl(issuer, challenge, { client_id, redirect_uri, resource: MCP }));
    assert.match(login.text, /Agent by document/);
    const back = new URL((await browser.submit(await browser.submit(login, ADA))).url);
    assert.equal(back.origin, 'https://agent.example');
    const { body } = await exchange(issuer, back.searchParams.get('code') ?? '', verifier, { client_id, redirect_uri });
    assert.equal((await verified(issuer, body.access_token ?? '', MCP)).client_id, client_id);

    document = { ...document, client_id: 'https://other.example/client.json' };
    const lying = `${client_id}?lying`;
    const refused = await browser.open(authorizeUrl(issuer, challenge, { client_id: lying, redirect_uri }));
    assert.equal(refused.status, 400);
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  } finally {
    child.kill('SIGKILL');
    documents.close();
    await database.drop();
    rmSync(folder, { recursive: true });
  }
});
