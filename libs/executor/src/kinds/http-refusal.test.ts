import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RunHarness } from '../run-harness.fixture.ts';
import type { StepEnd } from '../run-outcome.ts';
import { methodOf } from '../walk/attempts.fixture.ts';
import { answering, TestServer } from './http-server.fixture.ts';

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

const SECRET = 'tok-5f2c9a7d1e-0b';
const secrets = new Map([['TOKEN', SECRET]]);

const call = (rest = '') =>
  methodOf(`secrets: [TOKEN]
steps:
  - name: call
    http: { get: "${server.origin}/x", auth: { bearer: TOKEN } }
${rest}`);

async function refused(answer: TestServer['answer'], rest = '') {
  const records: StepEnd[] = [];
  await answering(server, answer, async () => {
    records.push(await harness.last(call(rest), { secrets }));
  });
  const [{ error, tries } = { error: null, tries: [] }] = records;
  assert.ok(error !== null);
  assert.deepEqual(tries.at(-1)?.error, error);
  return { ...error, tries: tries.length };
}

describe('the error of an http step', () => {
  it('keeps status, reason, the headers that matter and the body', async () => {
    const error = await refused((_, response) =>
      response
        .writeHead(422, 'No Such Plan', {
          'content-type': 'application/json',
          'x-request-id': 'req_1',
          'retry-after': '7',
          'set-cookie': 'sid=1',
          authorization: 'Basic x',
          'x-other': 'y',
        })
        .end('{"error":"plan unknown"}'),
    );
    assert.deepEqual(
      [error.kind, error.status, error.reason, error.headers, error.body],
      [
        'http',
        422,
        'No Such Plan',
        { 'content-type': 'application/json', 'retry-after': '7', 'x-request-id': 'req_1' },
        '{"error":"plan unknown"}',
      ],
    );
  });

  it('never shows a secret, not even a part of one at the end of the kept text', async () => {
    for (const before of [0, 1010, 1020, 16_370, 16_384]) {
      const error = await refused((_, response) =>
        response
          .writeHead(401, `for ${SECRET}`, {
            'www-authenticate': `Bearer realm="${SECRET}"`,
            location: `/?t=${SECRET}`,
          })
          .end(`${'x'.repeat(before)}${SECRET}${'y'.repeat(20_000)}`),
      );
      assert.ok(!JSON.stringify(error).includes('tok-'), JSON.stringify(error).slice(900));
      assert.ok(Buffer.byteLength(error.body ?? '') <= 1024);
    }
  });

  it('cuts no character, and marks binary bodies', async () => {
    const long = await refused((_, response) => response.writeHead(500).end(`a${'🔑'.repeat(20_000)}`));
    assert.equal(long.body, `a${'🔑'.repeat(255)}`);
    const png = await refused((_, response) => response.writeHead(500).end(Buffer.from([0x89, 0x50, 0xff, 0])));
    assert.equal(png.body, '(binary, 4 bytes)');
    const nul = await refused((_, response) => response.writeHead(500).end('a\0b'));
    assert.equal(nul.body, '(binary, 3 bytes)');
    const none = await refused((_, response) => response.writeHead(500).end());
    assert.equal(none.body, '');
  });

  it('reads headers as UTF-8 if they are, so that a secret with an umlaut is masked there as well', async () => {
    const own = 'tök-5f2c9a7d1e-0b';
    const bytes = Buffer.from(own).toString('latin1');
    let record: StepEnd | null = null;
    await answering(
      server,
      (_, response) => response.writeHead(500, bytes, { 'x-request-id': bytes, location: 'gr\xfcn' }).end(),
      async () => {
        record = await harness.last(call(), { secrets: new Map([['TOKEN', own]]) });
      },
    );
    const { error } = record as unknown as StepEnd;
    assert.deepEqual(
      [error?.reason, error?.headers],
      ['***TOKEN***', { 'x-request-id': '***TOKEN***', location: 'grün' }],
    );
  });

  it('does not wait for a body that does not arrive', async () => {
    const error = await refused((_, response) => {
      response.writeHead(503).write('half an answer');
    });
    assert.equal(error.status, 503);
    // The last few characters may be the beginning of a secret.
    assert.match(error.body ?? '', /^half an/);
  });

  it('shows no part of a secret that was under way when it stopped waiting', async () => {
    const error = await refused((_, response) => {
      response.writeHead(503).write(`no such token: ${SECRET.slice(0, -3)}`);
    });
    assert.match(error.body ?? '', /^no such token:/);
    assert.ok(!error.body?.includes('tok-'), error.body);
  });

  it('decides about tries by the server’s answer', async () => {
    const retry = (condition: string) => `    retry: { max: 2, delay: 1ms, if: '${condition}' }\n`;
    const busy: TestServer['answer'] = (_, response) => response.writeHead(409, { 'x-request-id': 'r1' }).end('locked');
    const times = async (condition: string) => (await refused(busy, retry(condition))).tries;
    assert.equal(await times('error.status == 409 && error.body != null && error.body.includes("locked")'), 3);
    assert.equal(await times('error.headers["x-request-id"] == "r1"'), 3);
    assert.equal(await times('error.body == "other"'), 1);
  });
});
