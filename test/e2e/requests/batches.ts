// Many starts in one request: each is what it would be by itself.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { otherOrganization } from '../other-callers.ts';
import type { Stack } from '../stack.ts';
import { leavesRunsUnchanged } from '../unchanged-runs.ts';

interface Item {
  readonly status: number;
  readonly run?: { readonly run_id: string; readonly status: string };
  readonly error?: { readonly error: string };
}

export function batches(stack: () => Stack): void {
  describe('a batch of starts', () => {
    const start = async (runs: readonly unknown[], client = stack().api): Promise<readonly Item[]> => {
      const reply = await client.request('POST', '/v1/runs/batch', { body: { runs } });
      assert.equal(reply.status, 200, reply.text);
      return JSON.parse(reply.text).items;
    };

    test('starts its runs once, however often and wherever it is repeated; what is wrong is said of the start it is in', async () => {
      const key = randomUUID();
      const method = stack().method('greet');
      const good = Array.from({ length: 60 }, (_, n) => ({
        method,
        inputs: { name: `Ada ${n}` },
        idempotency_key: `${key}-${n}`,
      }));
      const bad = [{ method, inputs: { name: 1 } }, { ...good[0], inputs: {} }, good[0]];
      const items = await start([...good, ...bad]);
      assert.deepEqual(
        items.map(({ status }) => status),
        [...good.map(() => 201), 422, 409, 200],
      );
      const ids = (of: readonly Item[]) => of.slice(0, good.length).map(({ run }) => run?.run_id);
      assert.equal(new Set(ids(items)).size, good.length);
      assert.equal(items.at(-1)?.run?.run_id, items[0]?.run?.run_id);
      const runs = await Promise.all(ids(items).map((runId) => stack().api.settled(runId ?? '')));
      for (const [n, { status, result }] of runs.entries()) {
        assert.equal(status, 'succeeded');
        assert.match(JSON.stringify(result), new RegExp(`Ada ${n}\\b`));
      }
      const again = await leavesRunsUnchanged(stack(), () => start(good));
      assert.deepEqual([new Set(again.map(({ status }) => status)), ids(again)], [new Set([200]), ids(items)]);
    });

    test('gives the run of a key to the first start that has it', async () => {
      const key = randomUUID();
      const of = (name: string, n: number) => ({
        method: stack().method('greet'),
        inputs: { name },
        idempotency_key: `${key}-${n}`,
      });
      const items = await start(Array.from({ length: 40 }, (_, n) => [of('first', n), of('later', n)]).flat());
      const statuses = items.map(({ status }) => status);
      assert.deepEqual(statuses, Array.from({ length: 40 }, () => [201, 409]).flat());
      for (const { run } of items) if (run) await stack().api.settled(run.run_id);
    });

    test("of another organization's method starts nothing", async () => {
      const other = await otherOrganization(stack());
      const [item] = await start([{ method: stack().method('greet') }], stack().api.as(other.key));
      assert.deepEqual([item?.status, item?.error?.error], [404, 'not_found']);
    });
  });
}
