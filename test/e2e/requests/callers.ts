// Who may ask: without a good key the answer is the same 401 everywhere; with another organization's key there is
// nothing to be found.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { TEST_DOER } from '../../harness/test-doer.ts';
import { until } from '../../harness/until.ts';
import { otherOrganization, secondKey } from '../other-callers.ts';
import type { Stack } from '../stack.ts';
import { leavesRunsUnchanged } from '../unchanged-runs.ts';

const MISSING_RUN = 'run_0101m7y804g33sn568qvqft2vt';

export function callers(stack: () => Stack): void {
  describe('a caller', () => {
    let runId: string;
    before(async () => {
      runId = (await stack().api.startSettled({ method: stack().method('two-questions') })).run_id;
    });

    const routes = () =>
      [
        ['POST', '/v1/runs', { method: stack().method('greet') }],
        ['GET', `/v1/runs/${runId}`, undefined],
        ['POST', `/v1/runs/${runId}/answer`, { answer: { go: true } }],
        ['POST', `/v1/runs/${runId}/cancel`, undefined],
      ] as const;

    test('without a key, or with one that is malformed, mistyped or unknown, gets 401 and nothing more', async () => {
      const { api_key: key } = stack().ready;
      const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
      const wrong = [
        undefined,
        '',
        'Bearer',
        'Bearer sk_garbage',
        `Bearer ${mistyped}`,
        `Bearer ${createServiceKey().key}`,
        `Bearer ${'x'.repeat(5_000)}`,
        `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
        key,
      ];
      for (const authorization of wrong) {
        for (const [method, path, body] of routes()) {
          const reply = await leavesRunsUnchanged(stack(), async () => {
            const response = await fetch(stack().ready.base_url + path, {
              method,
              headers: {
                ...(body !== undefined && { 'content-type': 'application/json' }),
                ...(authorization !== undefined && { authorization }),
              },
              ...(body !== undefined && { body: JSON.stringify(body) }),
            });
            return { status: response.status, headers: response.headers, text: await response.text() };
          });
          assert.equal(reply.status, 401, `${authorization?.slice(0, 20)} ${path}`);
          assert.equal(reply.text, '{"error":"unauthorized"}');
          assert.equal(reply.headers.get('www-authenticate'), 'Bearer');
          assert.ok(reply.headers.get('x-request-id'));
        }
      }
    });

    test('may send the whole key or only its first part', async () => {
      const [authPart = ''] = /^sk_[^_]+/.exec(stack().ready.api_key) ?? [];
      assert.equal((await stack().api.as(authPart).get(runId)).status, 200);
    });

    test('with another key of the organization finds its runs; a revoked one finds nothing at once', async () => {
      const { key, keyId, orgId } = await secondKey(stack());
      const api = stack().api.as(key);
      assert.equal((await api.get(runId)).status, 200);
      await stack().registry.revokeServiceKey({ orgId, keyId, doer: TEST_DOER });
      const revokedMs = performance.now();
      const refused = await until('the key is refused', async () => {
        const reply = await api.get(runId);
        return reply.status === 401 && reply;
      });
      assert.ok(performance.now() - revokedMs < 25_000, 'what the gateway remembers is believed for 30 s');
      assert.equal(refused.text, '{"error":"unauthorized"}');
    });

    test("of another organization gets the same for this one's runs as for runs that do not exist", async () => {
      const api = stack().api.as((await otherOrganization(stack())).key);
      const headers = { 'x-request-id': 'the-same' };
      for (const [method, path, body] of routes().slice(1)) {
        const ask = (at: string) =>
          leavesRunsUnchanged(stack(), () => api.request(method, at, { headers, ...(body && { body }) }));
        const foreign = await ask(path);
        const missing = await ask(path.replace(runId, MISSING_RUN));
        assert.equal(foreign.status, 404);
        assert.equal(foreign.refusal.error, 'not_found');
        assert.equal(foreign.text, missing.text);
        const shown = ({ headers: received }: typeof foreign) => [...received].filter(([name]) => name !== 'date');
        assert.deepEqual(shown(foreign), shown(missing));
      }
      assert.equal((await stack().api.get(runId)).run.status, 'waiting');
    });

    test('with a malformed run id finds nothing', async () => {
      for (const id of [
        'run_',
        'x',
        'run_0101m7y804g33sn568qvqft2vt0',
        'RUN_0101m7y804g33sn568qvqft2vt',
        '%00',
        'a'.repeat(500),
      ]) {
        const reply = await stack().api.get(id);
        assert.deepEqual([reply.status, reply.refusal.error], [404, 'not_found'], id);
      }
    });

    test('keeps its request id where it can be printed, and gets another where it cannot', async () => {
      const idOf = async (given: string) =>
        (await stack().api.request('GET', `/v1/runs/${runId}`, { headers: { 'x-request-id': given } })).headers.get(
          'x-request-id',
        );
      assert.equal(await idOf('order-7f3'), 'order-7f3');
      assert.equal(await idOf('x'.repeat(128)), 'x'.repeat(128));
      assert.notEqual(await idOf('x'.repeat(129)), 'x'.repeat(129));
      assert.notEqual(await idOf('two words'), 'two words');
    });
  });
}
