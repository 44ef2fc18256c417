// Secrets that a method declares: read on the worker, used there, and found nowhere else.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PeerServer } from '../http-peers.ts';
import type { Stack } from '../stack.ts';
import { filesHolding, tablesHolding } from '../stored-traces.ts';

/** With characters that encodings change, and long enough for a second line of base64. */
export const SECRET = 'tok/en+"7f3ä=secret value & <the> rest of it, zoetrope wainscot';
const ENCODED = [
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64'),
  JSON.stringify(SECRET).slice(1, -1),
  Buffer.from(SECRET).toString('hex'),
  // Of longer forms: a line of base64, and words that other escapes leave as they are.
  Buffer.from(SECRET).toString('base64').slice(0, 76),
  'zoetrope',
];
const FORMS = ['base64 in lines', 'JSON of Go', 'percent-encoded twice'];

export function secrets(stack: () => Stack): void {
  describe('a secret that a method declares', () => {
    const received: (string | undefined)[] = [];
    const server = new PeerServer((request, response) => {
      received.push(request.headers.authorization);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"ord_1","count":1}');
    });
    before(() => server.start());
    after(() => server.stop());
    const use = (how: string) =>
      stack().api.startSettled({ method: stack().method('use-secret'), inputs: { url: server.url, how } });

    test('fails the run before its first step when the worker does not have it', async () => {
      const run = await stack().api.startSettled({ method: stack().method('absent-secret') });
      assert.equal(run.status, 'failed');
      assert.deepEqual(run.error, {
        code: 'secret_missing',
        kind: 'secret',
        message: 'The secret E2E_ABSENT_TOKEN is not set on the worker',
      });
      assert.equal(run.steps[0]?.status, 'skipped');
    });

    test('reaches the server and the code that need it', async () => {
      const run = await use('fine');
      assert.deepEqual([run.status, run.result], ['succeeded', { length: SECRET.length }]);
      assert.equal(received.at(-1), `Bearer ${SECRET}`);
    });

    test('is masked in what a step writes, in every spelling', async () => {
      const run = await use('logged');
      assert.equal(run.status, 'succeeded', JSON.stringify(run.error));
      const [row] = await stack().sql<{ log: string }[]>`
        select log_tail as log from scheduler.steps where run_id = ${run.run_id} and path = 'work'`;
      // Plain, encoded in three ways, and on the other stream.
      assert.equal(row?.log.split('***E2E_TOKEN***').length, 6, row?.log);
    });

    test('is masked in the error of a step', async () => {
      const run = await use('thrown');
      assert.deepEqual([run.error?.code, run.error?.kind], ['step_failed', 'exception']);
      assert.equal(run.error?.message, 'the server refused ***E2E_TOKEN***');
    });

    test('cannot be part of an out', async () => {
      const run = await use('returned');
      assert.deepEqual([run.error?.code, run.error?.kind], ['step_failed', 'secret']);
      assert.equal(run.error?.message, 'out contains the secret E2E_TOKEN');
    });

    describe('in a form that a program wrote', () => {
      const run = (form: string, how: string) =>
        stack().api.startSettled({ method: stack().method('secret-forms'), inputs: { form, how } });
      for (const form of FORMS) {
        test(`${form}: is masked in logs and errors, and no part of an out`, async () => {
          const [logged, thrown, returned] = await Promise.all([
            run(form, 'logged'),
            run(form, 'thrown'),
            run(form, 'returned'),
          ]);
          const [row] = await stack().sql<{ log: string }[]>`
            select log_tail as log from scheduler.steps where run_id = ${logged.run_id} and path = 'work'`;
          // Padding and quotes around it may stay.
          assert.match(row?.log ?? '', /^"?\*{3}E2E_TOKEN\*{3}[="]*\n?$/);
          assert.match(thrown.error?.message ?? '', /^refused: "?\*{3}E2E_TOKEN\*{3}[="]*$/);
          assert.deepEqual(
            [returned.error?.kind, returned.error?.message],
            ['secret', 'out contains the secret E2E_TOKEN'],
          );
          for (const { run_id: runId } of [logged, thrown, returned]) {
            const { text: detail } = await stack().api.get(runId);
            const { text: events } = await stack().api.request('GET', `/v1/runs/${runId}/events`);
            for (const part of ENCODED) assert.ok(!detail.includes(part) && !events.includes(part), part);
          }
        });
      }
    });

    test('is masked in what a server that refuses says, of which the run keeps the rest', async () => {
      const said = ['busy', 'closed'];
      const asked: (string | undefined)[] = [];
      const refusing = new PeerServer((request, response) => {
        asked.push(request.headers.authorization);
        const body = JSON.stringify({ error: said.shift() ?? 'asked too often', you: request.headers.authorization });
        response.writeHead(503, 'Not Today', {
          'content-type': 'application/json',
          'x-request-id': `for ${encodeURIComponent(SECRET)}`,
          'set-cookie': 'session=1',
        });
        response.end(body);
      });
      await refusing.start();
      const inputs = { url: refusing.url };
      const run = await stack().api.startSettled({ method: stack().method('refused-order'), inputs });
      await refusing.stop();
      assert.deepEqual([run.status, run.error?.kind, asked.length], ['failed', 'http', 2], 'busy is tried again only');
      const { error } = run.steps.find(({ name }) => name === 'order') ?? {};
      assert.deepEqual(error, {
        ...{ kind: 'http', message: 'The server answered 503', status: 503, line: error?.line, reason: 'Not Today' },
        headers: { 'content-type': 'application/json', 'x-request-id': 'for ***E2E_TOKEN***' },
        body: '{"error":"closed","you":"Bearer ***E2E_TOKEN***"}',
      });
      const { text: events } = await stack().api.request('GET', `/v1/runs/${run.run_id}/events`);
      assert.match(events, /Not Today/);
    });

    test('is in no table, and in no file of the stack', async () => {
      // The search finds what is there.
      assert.ok((await tablesHolding(stack().sql, ['ord_1'])).includes('scheduler.steps'));
      assert.deepEqual(await tablesHolding(stack().sql, ENCODED), []);
      const everything = () => true;
      assert.deepEqual(filesHolding(stack().ready.data_dir, ENCODED, everything), []);
    });
  });
}
