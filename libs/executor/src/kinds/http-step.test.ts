import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { CompiledValue } from '@methods/method/compiled-method';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { expression, http, literal, method, node, out } from '../hand-built-method.fixture.ts';
import { RunFolder } from '../run-folder.ts';
import { RunHarness } from '../run-harness.fixture.ts';
import { stepKey } from '../step-context.ts';
import { answering, TestServer } from './http-server.fixture.ts';

const id = { id: { type: 'string' } };
const SECRET = 'tok-5f2c9a7d1e';
const secrets = new Map([['TOKEN', SECRET]]);
const token: CompiledValue = { kind: 'secret', name: 'TOKEN' };
const bearer = { secrets: ['TOKEN'], auth: { kind: 'bearer' as const, token } };
const response = (read: (response: JsonObject) => JsonValue) =>
  expression((scope) => read(scope.response as JsonObject));

let harness: RunHarness;
let server: TestServer;
before(async () => {
  harness = await RunHarness.start();
  server = new TestServer();
  await server.start();
});
after(async () => {
  server.stop();
  await harness.stop();
});

function runHttp(path: string, options: Parameters<typeof http>[2] = {}, run = {}) {
  const step = http('call', `${server.origin}${path}`, { out: out(id), ...options });
  return harness.last(method([step]), { secrets, ...run });
}

describe('the request of an http step', () => {
  it('has its query, headers and credentials, and gives out from the JSON body by name', async () => {
    const record = await runHttp('/a?x=1', {
      ...bearer,
      query: literal({ q: 'a b&c', list: [1, 'ü'], no: null, yes: true }),
      headers: literal({ 'X-Trace': 7, 'User-Agent': null, Accept: 'text/csv' }),
    });
    assert.deepEqual([record.error, record.out, record.dropped], [null, { id: 'r1' }, ['extra']]);
    const { url, headers } = server.last;
    assert.equal(url, '/a?x=1&q=a+b%26c&list=1&list=%C3%BC&yes=true');
    assert.equal(headers.authorization, `Bearer ${SECRET}`);
    assert.equal(headers['x-trace'], '7');
    assert.equal(headers.accept, 'text/csv');
    assert.equal(headers['idempotency-key'], undefined);
  });

  it('sends basic and header credentials', async () => {
    await runHttp('/', { secrets: ['TOKEN'], auth: { kind: 'basic', user: literal('ann'), password: token } });
    assert.equal(server.last.headers.authorization, `Basic ${btoa(`ann:${SECRET}`)}`);
    await runHttp('/', { secrets: ['TOKEN'], auth: { kind: 'header', header: 'X-Api-Key', secret: token } });
    assert.equal(server.last.headers['x-api-key'], SECRET);
  });

  it('may not use a secret that the step does not declare', async () => {
    const undeclared = http('call', server.origin, { out: out(id), auth: bearer.auth });
    const record = await harness.last(method([undeclared], {}, { secrets: [{ name: 'TOKEN' }] }), { secrets });
    assert.equal(record.error?.kind, 'secret');
  });

  it('sends JSON, forms and text with the key of the step on POST and PATCH', async () => {
    await runHttp('/', { verb: 'post', body: { kind: 'json', value: literal({ a: [1, 'ä'] }) } }, { runId: 'run_k' });
    assert.deepEqual([server.last.body, server.last.headers['content-type']], ['{"a":[1,"ä"]}', 'application/json']);
    assert.equal(server.last.headers['idempotency-key'], stepKey('run_k', 'call'));
    await runHttp('/', { verb: 'patch', body: { kind: 'form', value: literal({ a: 'x&y', b: [1, 2], c: null }) } });
    assert.equal(server.last.body, 'a=x%26y&b=1&b=2');
    assert.ok(server.last.headers['idempotency-key']);
    await runHttp('/', {
      verb: 'put',
      body: { kind: 'text', value: literal('<a/>') },
      headers: literal({ 'content-type': 'text/xml' }),
    });
    assert.deepEqual([server.last.body, server.last.headers['content-type']], ['<a/>', 'text/xml']);
    assert.equal(server.last.headers['idempotency-key'], undefined);
  });

  it('lets the headers of the step replace its key or turn it off', async () => {
    await runHttp('/', { verb: 'post', headers: literal({ 'Idempotency-Key': 'mine' }) });
    assert.equal(server.last.headers['idempotency-key'], 'mine');
    await runHttp('/', { verb: 'post', headers: literal({ 'Idempotency-Key': null }) });
    assert.equal(server.last.headers['idempotency-key'], undefined);
  });

  it('sends a file of an earlier step with its length and type', async () => {
    const code =
      "import fs from 'node:fs'; fs.writeFileSync('a.csv', 'x'.repeat(300000)); return { file: step.file('a.csv') }";
    const make = node('make', code, { out: out({ file: {} }, { hasFile: true }) });
    const value = expression((scope) => (scope.steps.make as JsonObject).file ?? null);
    const send = http('send', server.origin, { verb: 'put', body: { kind: 'file', value }, out: out(id) });
    const record = await harness.last(method([make, send]));
    assert.equal(record.error, null);
    assert.equal(server.last.body.length, 300_000);
    assert.deepEqual(
      [server.last.headers['content-length'], server.last.headers['content-type']],
      ['300000', 'text/csv'],
    );
    const forged = literal({
      path: 'steps/../../../../etc/hostname',
      bytes: 1,
      sha256: 'a'.repeat(64),
      media_type: 'x/y',
    });
    const steal = http('steal', server.origin, { verb: 'put', body: { kind: 'file', value: forged } });
    assert.equal((await harness.last(method([make, steal]))).error?.kind, 'http');
  });

  it('refuses URLs that are not http, and header values with line breaks', async () => {
    for (const url of [
      'file:///etc/passwd',
      'ftp://h/',
      '/relative',
      'javascript:1',
      'http://user:pass@127.0.0.1/',
      '',
    ]) {
      const record = await harness.last(method([http('call', url)]));
      assert.equal(record.error?.kind, 'http', url);
    }
    const record = await runHttp('/', { headers: literal({ 'X-A': 'a\r\nX-B: b' }) });
    assert.equal(record.error?.kind, 'http');
  });
});

describe('the answer of an http step', () => {
  it('fails the step with kind http outside 2xx, unless accepted', async () => {
    await answering(
      server,
      (_, response) => response.writeHead(404).end('{"id":"none"}'),
      async () => {
        const failed = await runHttp('/');
        assert.deepEqual([failed.error?.kind, failed.error?.status, failed.error?.line], ['http', 404, 5]);
        assert.deepEqual((await runHttp('/', { accept: [404] })).out, { id: 'none' });
      },
    );
  });

  it('gives status, headers and body to take', async () => {
    await answering(
      server,
      (_, response) => response.writeHead(201, { 'X-Next': 'p2' }).end('{"data":[1,2]}'),
      async () => {
        const take = new Map([
          ['count', response((it) => ((it.body as JsonObject).data as JsonValue[]).length)],
          ['next', response((it) => (it.headers as JsonObject)['x-next'] ?? null)],
          ['status', response((it) => it.status ?? null)],
        ]);
        const record = await runHttp('/', { take, out: out({ count: {}, next: {}, status: {} }) });
        assert.deepEqual(record.out, { count: 2, next: 'p2', status: 201 });
      },
    );
  });

  it('gives text that is not JSON to take only', async () => {
    await answering(
      server,
      (_, response) => response.end('plain words'),
      async () => {
        assert.equal((await runHttp('/')).error?.kind, 'out');
        const take = new Map([['id', response((it) => it.body ?? null)]]);
        assert.deepEqual((await runHttp('/', { take })).out, { id: 'plain words' });
      },
    );
    const broken: TestServer['answer'] = (_, response) =>
      response.setHeader('content-type', 'application/json').end('{');
    await answering(server, broken, async () => assert.equal((await runHttp('/')).error?.kind, 'out'));
  });

  it('fails with kind limit above 10 MiB, even if it was compressed, and for deep nesting', async () => {
    const large = gzipSync(Buffer.alloc(11 << 20, 'x'));
    const compressed: TestServer['answer'] = (_, response) => response.setHeader('content-encoding', 'gzip').end(large);
    await answering(server, compressed, async () => assert.equal((await runHttp('/')).error?.kind, 'limit'));
    const deep: TestServer['answer'] = (_, response) => response.end('['.repeat(100_000) + ']'.repeat(100_000));
    await answering(server, deep, async () => assert.equal((await runHttp('/')).error?.kind, 'limit'));
  });

  it('keeps its body as a file', async () => {
    const csv = 'a,b\n1,2\n';
    await answering(
      server,
      (_, response) => response.setHeader('content-type', 'Text/CSV; charset=x').end(csv),
      async () => {
        const folder = RunFolder.create(join(harness.dir, 'http'), 'run_file');
        const take = new Map([['file', response((it) => it.file ?? null)]]);
        const options = { take, keepsFile: true, out: out({ file: {} }, { hasFile: true }) };
        const record = await runHttp('/', options, { folder });
        const sha256 = createHash('sha256').update(csv).digest('hex');
        const path = 'steps/call/files/body';
        const file = { path, bytes: csv.length, sha256, media_type: 'text/csv', name: 'body' };
        assert.deepEqual(record.out, { file });
        assert.equal(await readFile(join(folder.dir, path), 'utf8'), csv);
        const limited = await runHttp('/', { ...options, limits: { filesBytesMax: 4 } });
        assert.equal(limited.error?.kind, 'limit');
      },
    );
  });

  it('fails with kind secret when it echoes the credential', async () => {
    const echo: TestServer['answer'] = (request, response) =>
      response.end(JSON.stringify({ id: request.headers.authorization }));
    await answering(server, echo, async () => assert.equal((await runHttp('/', bearer)).error?.kind, 'secret'));
  });

  it('fails with kind timeout while it waits, or while the body stalls, and with kind network without a server', async () => {
    const limits = { timeoutMs: 100, timeoutText: '100ms' };
    await answering(
      server,
      () => {},
      async () => {
        const { error } = await runHttp('/', { limits });
        assert.deepEqual([error?.kind, error?.message], ['timeout', 'No answer within 100ms']);
      },
    );
    await answering(
      server,
      (_, response) => void response.write('{'),
      async () => {
        assert.equal((await runHttp('/', { limits })).error?.kind, 'timeout');
      },
    );
    await answering(
      server,
      (request) => void request.socket.destroy(),
      async () => {
        assert.equal((await runHttp('/')).error?.kind, 'network');
      },
    );
    const closed = new TestServer();
    await closed.start();
    const { origin } = closed;
    closed.stop();
    const refused = await harness.last(method([http('call', `${origin}/path`)]));
    assert.deepEqual(
      [refused.error?.kind, refused.error?.message],
      ['network', 'The connection failed (ECONNREFUSED)'],
    );
  });

  it('is given up when the run is stopped', async () => {
    const abort = new AbortController();
    await answering(
      server,
      () => abort.abort(),
      async () => {
        const outcome = await harness.run(method([http('call', server.origin)]), { signal: abort.signal });
        assert.deepEqual(outcome, { status: 'stopped' });
      },
    );
  });
});
