// Cancelling, in every state a run can be in.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { until } from '../../harness/until.ts';
import { SilentServer } from '../http-peers.ts';
import { countingSource, SavedMethod } from '../saved-method.ts';
import type { Stack } from '../stack.ts';
import { leavesRunsUnchanged } from '../unchanged-runs.ts';

export function cancels(stack: () => Stack): void {
  describe('a cancel', () => {
    let unserved: SavedMethod;
    before(async () => {
      unserved = await SavedMethod.create(stack(), countingSource(0));
      await unserved.publish();
    });
    const cancelled = async (runId: string) => {
      const reply = await stack().api.cancel(runId);
      assert.deepEqual([reply.status, reply.run.status], [200, 'cancelled']);
      assert.ok(reply.run.timing.finished_at);
      assert.equal(reply.run.question, undefined);
      const again = await leavesRunsUnchanged(stack(), () => stack().api.cancel(runId));
      assert.equal(again.status, 200);
      assert.deepEqual(again.run, reply.run);
      return reply.run;
    };

    test('of a queued run takes effect at once', async () => {
      const { run } = await stack().api.start({ method: unserved.id, inputs: { n: 1 } });
      assert.equal((await stack().api.get(run.run_id)).run.status, 'queued');
      const ended = await cancelled(run.run_id);
      assert.deepEqual([ended.attempts, ended.timing.started_at], [0, null]);
    });

    test('of a waiting run takes effect at once, and its question is gone', async () => {
      const run = await stack().api.startSettled({ method: stack().method('two-questions') });
      const ended = await cancelled(run.run_id);
      assert.deepEqual(
        ended.steps.map(({ status }) => status),
        ['cancelled', 'cancelled'],
      );
    });

    test('of a running run is asked for at once and done when its worker has stopped', async () => {
      const server = new SilentServer();
      await server.start();
      try {
        const { run } = await stack().api.start({ method: stack().method('call-server'), inputs: { url: server.url } });
        await until('the step is under way', () => server.open === 1);
        const reply = await stack().api.cancel(run.run_id);
        assert.deepEqual([reply.status, reply.run.status, reply.run.cancel_requested], [202, 'running', true]);
        const ended = await stack().api.settled(run.run_id);
        assert.equal(ended.status, 'cancelled');
        await until('the worker has let go of the server', () => server.open === 0);
        assert.equal((await stack().api.cancel(run.run_id)).status, 200);
      } finally {
        await server.stop();
      }
    });

    test('ends the waits for the run', async () => {
      const run = await stack().api.startSettled({ method: stack().method('two-questions') });
      const wait = stack().api.settled(run.run_id, run.question?.id);
      await stack().api.cancel(run.run_id);
      const ended = await wait;
      assert.equal(ended.status, 'cancelled');
      assert.ok(Date.now() - Date.parse(ended.timing.finished_at ?? '') < 10_000);
    });

    test('of a finished run is refused with its status', async () => {
      const run = await stack().api.startSettled({ method: stack().method('greet') });
      const reply = await leavesRunsUnchanged(stack(), () => stack().api.cancel(run.run_id));
      assert.deepEqual([reply.status, reply.refusal.error, reply.refusal.status], [409, 'run_finished', 'succeeded']);
      assert.equal(reply.refusal.message, 'The run has finished.');
    });

    test('has no fields, and may have an empty body', async () => {
      const { run } = await stack().api.start({ method: unserved.id, inputs: { n: 1 } });
      const path = `/v1/runs/${run.run_id}/cancel`;
      const reply = await leavesRunsUnchanged(stack(), () =>
        stack().api.request('POST', path, { body: { now: true } }),
      );
      assert.deepEqual([reply.status, reply.refusal.message], [400, 'A cancel has no fields.']);
      assert.equal((await stack().api.request('POST', path, { body: {} })).status, 200);
    });
  });
}
