// Values made to be costly, sent many at once: they end, and another organization is served meanwhile.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Reply } from '../api-client.ts';
import { otherOrganization } from '../other-callers.ts';
import { countingSource, SavedMethod } from '../saved-method.ts';
import type { Stack } from '../stack.ts';

const BRANCHES = Array.from({ length: 480 }, (_, n) => `{ type: string, minLength: ${n + 2} }`).join(', ');
const COSTLY = `format: method/2
name: costly
inputs:
  items: { $schema: { type: array, items: { anyOf: [${BRANCHES}] } } }
  lists: { $schema: { type: array, uniqueItems: true, items: { type: array, uniqueItems: true } } }
  filled: list<Filled>
types:
  Filled: { a: 'string = ${'x'.repeat(2_000)}' }
require:
  - Sorted: inputs.items.every(x => inputs.items.includes("none"))
steps:
  - name: one
    node: return {};
`;

const list = (length: number, item: (n: number) => unknown) => Array.from({ length }, (_, n) => item(n));
const INPUTS = {
  'many branches': { items: list(60_000, () => 'a'), lists: [], filled: [] },
  'lists in lists': { items: [], lists: list(900, (n) => list(60, (m) => ({ n, m }))), filled: [] },
  'defaults in each item': { items: [], lists: [], filled: list(80_000, () => ({})) },
  'a check of all items with all items': { items: list(500, (n) => 'x'.repeat(500 + (n % 10))), lists: [], filled: [] },
};

export function costlyValues(stack: () => Stack): void {
  describe('values that are costly to check', () => {
    test('delay no other organization, as inputs or as answers', async () => {
      const { api } = stack();
      const other = await otherOrganization(stack());
      const theirs = await SavedMethod.create(stack(), countingSource(1), other.orgId);
      await theirs.publish();
      const costly = await SavedMethod.create(stack(), COSTLY);
      await costly.publish();
      const asked = await api.startSettled({ method: stack().method('costly-answer') });
      const texts = list(6_000, (n) => `${'ab'.repeat(n % 3)}a`);
      let done = false;
      const attack = Promise.all([
        ...Object.values(INPUTS).flatMap((inputs) => list(4, () => api.start({ method: costly.id, inputs }))),
        ...list(8, () => api.answer(asked.run_id, { texts: [...texts, '-'] }, asked.question?.id)),
      ]).finally(() => {
        done = true;
      }) as Promise<Reply[]>;
      const served: Reply[] = [];
      const client = api.as(other.key);
      while (!done) {
        served.push(await client.start({ method: theirs.id, inputs: { n: served.length + 1 } }));
        const { run_id: runId } = served.at(-1)?.run ?? assert.fail();
        served.push(await client.get(runId));
      }
      const replies = await attack;
      assert.deepEqual(new Set(served.map(({ status }) => status)), new Set([201, 200]));
      assert.ok(served.length >= 4, `${served.length} replies`);
      const statuses = new Set(replies.map(({ status }) => status));
      for (const status of statuses) assert.ok([201, 413, 422, 429].includes(status), `${[...statuses]}`);
      const answer = await api.answer(asked.run_id, { texts }, asked.question?.id);
      assert.equal(answer.status, 200, answer.text);
    });
  });
}
