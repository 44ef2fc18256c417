import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { readConfig } from '../config.ts';
import type { CommandError } from '../errors/command-error.ts';
import { Output } from '../terminal/output.ts';
import { discoverIssuer } from './issuer-client.ts';
import { loopbackSignIn } from './loopback-sign-in.ts';

const TIME_MAX_MS = 60_000;

test('an issuer that names a local program as its page opens nothing', async () => {
  const server = createServer((_, response) => {
    const endpoints = { authorization_endpoint: 'file:///bin/sh', token_endpoint: `${issuer}/token` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ issuer, ...endpoints }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = { issuer, clientId: 'methods-cli', resource: null };
  const { stdin, stdout, stderr } = process;
  const context = {
    cwd: '/',
    config: { ...readConfig({}), display: false },
    output: new Output({ stdin, stdout, stderr, json: false, quiet: false, color: false }),
    interrupted: AbortSignal.timeout(TIME_MAX_MS),
  };
  try {
    const configuration = await discoverIssuer(names);
    const fault = await loopbackSignIn('https://methods.example', names, configuration, context).then(
      () => assert.fail('it signed in'),
      (error: CommandError) => error,
    );
    assert.equal(fault.code, 'bad_issuer');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
