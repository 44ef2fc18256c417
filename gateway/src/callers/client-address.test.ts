import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { clientAddress } from './surface.ts';

test('an address is recorded unchanged; other text from a trusted proxy is not recorded', async () => {
  const app = fastify({ trustProxy: '127.0.0.1' });
  app.get('/', (request) => clientAddress(request));
  const from = async (address: string) =>
    (await app.inject({ url: '/', headers: { 'x-forwarded-for': address } })).payload;
  assert.equal(await from('192.0.2.7'), '192.0.2.7');
  assert.equal(await from('2001:db8::1'), '2001:db8::1');
  for (const none of ['x'.repeat(500), '192.0.2.7"', '<b>']) assert.equal(await from(none), 'unknown');
});
