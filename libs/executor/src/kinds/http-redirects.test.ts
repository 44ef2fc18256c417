import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CompiledValue } from '@methods/method/compiled-method';
import { http, literal, method, out } from '../hand-built-method.fixture.ts';
import { RunHarness } from '../run-harness.fixture.ts';
import { answering, TestServer } from './http-server.fixture.ts';

const id = { id: { type: 'string' } };
const SECRET = 'tok-5f2c9a7d1e';
const secrets = new Map([['TOKEN', SECRET]]);
const token: CompiledValue = { kind: 'secret', name: 'TOKEN' };
const bearer = { secrets: ['TOKEN'], auth: { kind: 'bearer' as const, token } };

let harness: RunHarness;
let server: TestServer;
let other: TestServer;
before(async () => {
  harness = await RunHarness.start();
  server = new TestServer();
  other = new TestServer();
  await Promise.all([server.start(), other.start()]);
});
after(async () => {
  server.stop();
  other.stop();
  await harness.stop();
});

function runHttp(path: string, options: Parameters<typeof http>[2] = {}, run = {}) {
  const step = http('call', `${server.origin}${path}`, { out: out(id), ...options });
  return harness.last(method([step]), { secrets, ...run });
}

const redirect =
  (status: number, location: () => string): TestServer['answer'] =>
  (request, response) => {
    if (request.url === '/end') response.setHeader('content-type', 'application/json').end('{"id":"end"}');
    else response.writeHead(status, { location: location() }).end();
  };

describe('redirects of an http step', () => {
  it('are followed up to five times within the origin, with credentials', async () => {
    await answering(
      server,
      redirect(302, () => '/end'),
      async () => {
        assert.deepEqual((await runHttp('/start', bearer)).out, { id: 'end' });
        assert.equal(server.last.headers.authorization, `Bearer ${SECRET}`);
      },
    );
    let hops = 0;
    const endless: TestServer['answer'] = (_, response) => response.writeHead(302, { location: `/${++hops}` }).end();
    await answering(server, endless, async () => assert.equal((await runHttp('/')).error?.kind, 'http'));
    assert.equal(hops, 6);
  });

  it('never carry credentials to another origin', async () => {
    await answering(
      server,
      redirect(307, () => `${other.origin}/end`),
      async () => {
        const leaky = literal({ cookie: 'a=1', 'x-copy': `key ${SECRET}`, 'x-plain': 'kept' });
        await answering(
          other,
          redirect(200, () => ''),
          async () => {
            assert.deepEqual((await runHttp('/start', { ...bearer, headers: leaky })).out, { id: 'end' });
          },
        );
        const { headers } = other.last;
        assert.deepEqual(
          [headers.authorization, headers.cookie, headers['x-copy'], headers['x-plain']],
          [undefined, undefined, undefined, 'kept'],
        );
        const before = other.seen.length;
        const body = { kind: 'json' as const, value: literal({ key: SECRET }) };
        const record = await runHttp('/start', { ...bearer, verb: 'post', body });
        assert.deepEqual([record.error?.kind, other.seen.length], ['http', before]);
      },
    );
  });

  it('turn a POST into a GET where HTTP requires it, and repeat it otherwise', async () => {
    const body = { kind: 'json' as const, value: literal({ a: 1 }) };
    for (const [status, verb, sent] of [
      [301, 'GET', ''],
      [302, 'GET', ''],
      [303, 'GET', ''],
      [307, 'POST', '{"a":1}'],
      [308, 'POST', '{"a":1}'],
    ] as const) {
      await answering(
        server,
        redirect(status, () => '/end'),
        async () => {
          assert.deepEqual((await runHttp('/start', { verb: 'post', body })).out, { id: 'end' });
          assert.deepEqual([server.last.method, server.last.body], [verb, sent]);
          assert.equal(server.last.headers['idempotency-key'] !== undefined, verb === 'POST');
        },
      );
    }
  });

  it('to other schemes are refused', async () => {
    for (const location of ['file:///etc/passwd', 'data:application/json,{"id":"x"}']) {
      await answering(
        server,
        redirect(302, () => location),
        async () => {
          assert.equal((await runHttp('/start')).error?.kind, 'http');
        },
      );
    }
  });
});
