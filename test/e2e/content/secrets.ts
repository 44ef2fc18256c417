// Secrets that a method declares: read on the worker, used there, and found nowhere else.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PeerServer } from '../http-peers.ts';
import type { Stack } from '../stack.ts';
import { filesHolding, tablesHolding } from '../stored-traces.ts';

/** With characters that encodings change. */
export const SECRET = 'tok/en+"7f3ä=secret value';
const ENCODED = [
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64'),
  JSON.stringify(SECRET).slice(1, -1),
  Buffer.from(SECRET).toString('hex'),
];

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

    test('is in no table, and in no file of the stack', async () => {
      // The search finds what is there.
      assert.ok((await tablesHolding(stack().sql, ['ord_1'])).includes('scheduler.steps'));
      assert.deepEqual(await tablesHolding(stack().sql, ENCODED), []);
      const everything = () => true;
      assert.deepEqual(filesHolding(stack().ready.data_dir, ENCODED, everything), []);
    });
  });
}
