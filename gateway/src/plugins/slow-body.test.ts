import assert from 'node:assert/strict';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { replyToClientError } from './error-reply.ts';
import { addSlowBody } from './large-bodies.ts';

/** Sends a body byte by byte over 1.5 s to a server that gives requests 400 ms. */
async function trickle(path: string): Promise<string> {
  const app = Fastify({
    requestTimeout: 400,
    http: { headersTimeout: 300, connectionsCheckingInterval: 50 },
    clientErrorHandler: replyToClientError,
  });
  await app.register(async (scope) => {
    addSlowBody(scope);
    scope.post('/slow', async (request) => request.body);
  });
  app.post('/usual', async (request) => request.body);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  const text = new Promise<string>((resolve) => {
    let all = '';
    socket.on('data', (part) => {
      all += part;
    });
    socket.on('close', () => resolve(all));
    socket.on('error', () => {});
  });
  const body = '"123456789012"';
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  let at = 0;
  const timer = setInterval(() => {
    if (at < body.length && socket.writable) socket.write(body.charAt(at++));
  }, 100);
  const reply = await text;
  clearInterval(timer);
  await app.close();
  return reply;
}

test('a slow body may take longer than the server gives any other request', async () => {
  assert.match(await trickle('/slow'), /^HTTP\/1\.1 200 [\s\S]*123456789012$/);
  assert.match(await trickle('/usual'), /^HTTP\/1\.1 408 /);
});
