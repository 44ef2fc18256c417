// A start with a key happens once, for any repeats at any time and any gateway.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { until } from '../../harness/until.ts';
import { otherOrganization } from '../other-callers.ts';
import { countingSource, SavedMethod } from '../saved-method.ts';
import type { Stack } from '../stack.ts';
import { leavesRunsUnchanged } from '../unchanged-runs.ts';

export function idempotency(stack: () => Stack): void {
  describe('a start with an idempotency key', () => {
    const start = (body: object) => stack().api.start({ method: stack().method('greet'), ...body });

    test('repeated with the same values names the first run, as it is by now', async () => {
      const key = randomUUID();
      const first = await start({ idempotency_key: key, inputs: { name: 'Ada', times: 2 } });
      assert.equal(first.status, 201);
      await stack().api.settled(first.run.run_id);
      const again = await leavesRunsUnchanged(stack(), () =>
        start({ idempotency_key: key, inputs: { times: 2, name: 'Ada' }, version: 'published', metadata: {} }),
      );
      assert.equal(again.status, 200, 'the order of names and defaults spelled out make no difference');
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.deepEqual(again.run, { ...first.run, status: 'succeeded' });
    });

    test('repeated with a wait answers the whole run', async () => {
      const key = randomUUID();
      const first = await stack().api.start(
        { method: stack().method('greet'), idempotency_key: key },
        '?wait_ms=60000',
      );
      const again = await stack().api.start(
        { method: stack().method('greet'), idempotency_key: key },
        '?wait_ms=60000',
      );
      assert.deepEqual([first.status, again.status], [201, 200]);
      assert.equal(again.text, first.text);
    });

    test('repeated with other values is a conflict', async () => {
      const key = randomUUID();
      const asked = { idempotency_key: key, inputs: { name: 'Ada' }, metadata: { a: '1' } };
      const { run } = await start(asked);
      await stack().api.settled(run.run_id);
      const others = [
        { inputs: { name: 'Eve' } },
        { inputs: { name: 'Ada', times: 1 } },
        { metadata: {} },
        { answer_by: 'application' },
        { webhook_url: 'https://example.com/hook' },
        { version: run.version_id },
        { method: stack().method('approve') },
      ];
      for (const other of others) {
        const reply = await leavesRunsUnchanged(stack(), () => start({ ...asked, ...other }));
        assert.equal(reply.status, 409, JSON.stringify(other));
        assert.equal(reply.refusal.error, 'idempotency_conflict');
        assert.equal(reply.refusal.message, 'This idempotency_key was used with other values.');
        assert.ok(!reply.text.includes(run.run_id), 'a conflict names no run');
      }
    });

    test('fifty times at once makes one run', async () => {
      const key = randomUUID();
      const replies = await Promise.all(
        Array.from({ length: 50 }, () => start({ idempotency_key: key, inputs: { name: 'Ada' } })),
      );
      assert.equal(new Set(replies.map((reply) => reply.run.run_id)).size, 1);
      assert.equal(replies.filter((reply) => reply.status === 201).length, 1);
      for (const reply of replies) {
        assert.equal(reply.headers.get('idempotent-replayed'), reply.status === 201 ? null : 'true');
      }
      const [row] = await stack().sql`
        select count(*)::int as runs from scheduler.runs where run_id = ${replies[0]?.run.run_id ?? ''}`;
      assert.equal(row?.runs, 1);
      await stack().api.settled(replies[0]?.run.run_id ?? '');
    });

    test('the same key of another organization is another key', async () => {
      const other = await otherOrganization(stack());
      const key = randomUUID();
      const { run } = await start({ idempotency_key: key });
      const theirs = await SavedMethod.create(stack(), countingSource(0), other.orgId);
      await theirs.publish();
      const api = stack().api.as(other.key);
      const reply = await api.start({ method: theirs.id, inputs: { n: 1 }, idempotency_key: key });
      assert.equal(reply.status, 201);
      assert.notEqual(reply.run.run_id, run.run_id);
      await api.cancel(reply.run.run_id);
      await stack().api.settled(run.run_id);
    });

    test('"published" stays the word: a repeat after a later publish is the first run, on its version', async () => {
      const method = await SavedMethod.create(stack(), countingSource(1));
      await method.publish();
      const asked = { method: method.id, inputs: { n: 1 }, idempotency_key: randomUUID() };
      const first = await stack().api.start(asked);
      assert.equal(first.status, 201);
      await method.save(countingSource(0));
      await method.publish();
      const { run: fresh } = await until('the new version is in force', async () => {
        const reply = await stack().api.start({ method: method.id, inputs: { n: 1 } });
        await stack().api.cancel(reply.run.run_id);
        return reply.run.version_id === method.versionId && reply;
      });
      const again = await leavesRunsUnchanged(stack(), () => stack().api.start(asked));
      assert.equal(again.status, 200);
      assert.equal(again.text, first.text);
      assert.notEqual(fresh.version_id, first.run.version_id);
      await stack().api.cancel(first.run.run_id);
    });

    test('a repeat of a start that would be refused today still answers the first run', async () => {
      const method = await SavedMethod.create(stack(), countingSource(1));
      await method.publish();
      const asked = { method: method.id, inputs: { n: 1 } };
      const key = { idempotency_key: randomUUID() };
      const first = await stack().api.start({ ...asked, ...key });
      await method.save(countingSource(2));
      await method.publish();
      const refused = await until('the narrower version is in force', async () => {
        const reply = await stack().api.start(asked);
        if (reply.status === 201) await stack().api.cancel(reply.run.run_id);
        return reply.status !== 201 && reply;
      });
      assert.equal(refused.status, 422);
      assert.equal(refused.refusal.error, 'invalid_inputs');
      const again = await leavesRunsUnchanged(stack(), () => stack().api.start({ ...asked, ...key }));
      assert.equal(again.status, 200);
      assert.deepEqual(again.run, first.run);
      await stack().api.cancel(first.run.run_id);
    });
  });
}
