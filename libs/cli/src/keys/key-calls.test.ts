import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { NO_CREDENTIAL } from '../server/credential.ts';
import { ServerApi } from '../server/server-api.ts';
import { makeKey, newWebhookSecret } from './key-calls.ts';

const FACTS = { mcpUrl: null, grpcUrl: null, issuer: null, cliClientId: null, machineAudience: null, sendsMail: null };

test('a key or a secret whose reply a proxy lost may exist without an owner, and the error says so', async (t) => {
  const proxy = createServer((_, response) => response.writeHead(502).end('<html>Bad gateway</html>'));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => proxy.close());
  const api = new ServerApi({
    baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    facts: FACTS,
    credentials: { forRuns: NO_CREDENTIAL, forPeople: NO_CREDENTIAL },
    interrupted: new AbortController().signal,
  });
  await assert.rejects(makeKey(api, 'app'), { code: 'unavailable', hint: /already shows "app", revoke that one/ });
  const lost = newWebhookSecret(api, 'key_01kac0t6xgy9s2m4n8p3q5r7v1');
  await assert.rejects(lost, { code: 'unavailable', hint: /^run it again: the earlier secret may sign no more/ });
});
