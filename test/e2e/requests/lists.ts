// Lists of runs, as real nodes read them from their database.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { otherOrganization } from '../other-callers.ts';
import type { Stack } from '../stack.ts';

interface Listed {
  readonly items: readonly { readonly run_id: string; readonly status: string }[];
  readonly next_cursor: string | null;
}

export function lists(stack: () => Stack): void {
  describe('a list of runs', () => {
    const batch = randomBytes(8).toString('hex');
    const runIds: string[] = [];
    let waiting: string;

    before(async () => {
      const { api } = stack();
      for (let i = 0; i < 5; i++) {
        const run = await api.startSettled({ method: stack().method('greet'), metadata: { batch, n: `${i}` } });
        runIds.unshift(run.run_id);
      }
      const asks = await api.startSettled({ method: stack().method('two-questions'), metadata: { batch } });
      waiting = asks.run_id;
      runIds.unshift(waiting);
    });

    async function listed(query: string, api = stack().api): Promise<Listed> {
      const reply = await api.request('GET', `/v1/runs?${query}`);
      assert.equal(reply.status, 200, reply.text);
      return JSON.parse(reply.text) as Listed;
    }

    const idsOf = ({ items }: Listed) => items.map(({ run_id: id }) => id);

    test('holds them newest first, and its pages follow each other', async () => {
      const first = await listed(`metadata.batch=${batch}&limit=4`);
      const second = await listed(`metadata.batch=${batch}&limit=4&cursor=${first.next_cursor}`);
      assert.deepEqual([...idsOf(first), ...idsOf(second)], runIds);
      assert.equal(second.next_cursor, null);
      assert.deepEqual(idsOf(await listed('limit=6')), runIds);
    });

    test('selects by status, method, metadata and time', async () => {
      assert.deepEqual(idsOf(await listed(`status=waiting&metadata.batch=${batch}`)), [waiting]);
      assert.deepEqual(
        idsOf(await listed(`method=${stack().method('greet')}&metadata.batch=${batch}`)),
        runIds.slice(1),
      );
      assert.deepEqual(idsOf(await listed(`metadata.batch=${batch}&metadata.n=3`)), [runIds[2]]);
      const { run } = await stack().api.get(runIds[3] ?? '');
      const before = await listed(`metadata.batch=${batch}&created_before=${run.timing.created_at}`);
      assert.deepEqual(idsOf(before), runIds.slice(4));
    });

    test('shows what a run is and nothing of what it holds', async () => {
      const { items } = await listed(`status=succeeded&metadata.batch=${batch}&limit=1`);
      const { run } = await stack().api.get(runIds[1] ?? '');
      const { steps: _steps, result: _result, ...summary } = run;
      assert.deepEqual(items, [summary]);
    });

    test("of one organization holds no other's runs", async () => {
      const other = await otherOrganization(stack());
      const foreign = idsOf(await listed('limit=200', stack().api.as(other.key)));
      assert.deepEqual(
        foreign.filter((id) => runIds.includes(id)),
        [],
      );
      const { next_cursor: cursor } = await listed('limit=1');
      const further = idsOf(await listed(`limit=200&cursor=${cursor}`, stack().api.as(other.key)));
      assert.deepEqual(
        further.filter((id) => runIds.includes(id)),
        [],
      );
    });
  });
}
