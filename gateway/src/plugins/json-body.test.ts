import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import Fastify from 'fastify';
import { LongWork } from '../turns/long-work.ts';
import { addErrorReply } from './error-reply.ts';
import { addJsonBody, readBodiesApart } from './json-body.ts';
import { LargeBodies } from './large-bodies.ts';

test('refused bodies that have arrived do not close their connection', async () => {
  const app = Fastify();
  let connections = 0;
  let bodies = 0;
  app.server.on('connection', () => connections++);
  addErrorReply(app, { warn() {}, error() {}, info() {} } as never);
  addJsonBody(app, new LargeBodies(new LongWork(systemClock)));
  app.post('/here', async () => String(bodies++));
  await app.register(async (scope) => {
    readBodiesApart(scope, () => Promise.reject(new Error('no one reads it')));
    scope.post('/apart', async () => String(bodies++));
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (path: string, body: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      request({ port, host: '127.0.0.1', path, method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      })
        .on('error', reject)
        .end(body);
    });
  const heavy = `[${Array.from({ length: 100_000 }, () => '[]').join()}]`;
  const statuses = [await ask('/here', '{'), await ask('/here', heavy), await ask('/apart', '{}')];
  assert.deepEqual([statuses, bodies], [[400, 413, 500], 0]);
  assert.equal(await ask('/here', '{}'), 200);
  assert.equal(connections, 1);
  agent.destroy();
  await app.close();
});
