// Following a run: every step and status as it changes, also for a reader that comes back.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../../harness/until.ts';
import type { RunBody } from '../api-client.ts';
import { followEvents } from '../followed-events.ts';
import type { Stack } from '../stack.ts';

export function runEvents(stack: () => Stack): void {
  describe("a run's events", () => {
    function follow(runId: string, lastEventId?: string) {
      const { baseUrl, apiKey } = stack().api;
      return followEvents(`${baseUrl}/v1/runs/${runId}/events`, apiKey, lastEventId);
    }

    test('report its steps, its questions and its end, and then end themselves', async () => {
      const { run } = await stack().api.start({ method: stack().method('two-questions') });
      const { status, events, over } = await follow(run.run_id);
      assert.equal(status, 200);
      const asked = (past?: string) =>
        until('it asks', () => events.map(({ data }) => data.question?.id).find((id) => id && id !== past));
      const first = await asked();
      const { form } = events.findLast(({ data }) => data.question)?.data.question ?? {};
      const [field] = Object.keys(form?.properties ?? {});
      assert.ok(field);
      const settled = await stack().api.settled(run.run_id);
      const answer = answerTo(settled);
      await stack().api.answer(run.run_id, answer, first);
      const second = await asked(first);
      await stack().api.answer(run.run_id, answerTo(await stack().api.settled(run.run_id, first)), second);
      await over;
      assert.deepEqual([events[0]?.event, events.at(-1)?.event], ['run', 'status']);
      const now = await stack().api.settled(run.run_id);
      assert.equal(events.at(-1)?.data.status, now.status);
      assert.deepEqual(events.at(-1)?.data.result, now.result);
      const steps = new Map(events[0]?.data.steps?.map((step) => [step.name, step.status]));
      for (const { event, data } of events) if (event === 'step') steps.set(data.name ?? '', data.status ?? '');
      assert.deepEqual(
        [...steps],
        now.steps.map(({ name, status }) => [name, status]),
      );
      const ids = events.flatMap(({ id }) => (id === null ? [] : [Number(id)]));
      assert.deepEqual(
        ids,
        [...ids].sort((a, b) => a - b),
      );
      const last = String(ids.at(-1));
      assert.equal((await follow(run.run_id, last)).status, 204);
      const missed = await follow(run.run_id, '1');
      await missed.over;
      assert.deepEqual(
        missed.events.map(({ event, id, data }) => [event, id, data.status]),
        [['run', last, now.status]],
      );
    });

    test('come from every gateway, whichever started the run', async () => {
      const { run } = await stack().api.start({ method: stack().method('two-questions') });
      const other = stack().api.at(stack().gateways.at(-1) ?? stack().ready.base_url);
      await stack().api.settled(run.run_id);
      const { events, over } = await follow(run.run_id);
      await until('it is sent', () => events.length > 0);
      await other.cancel(run.run_id);
      await over;
      assert.equal(events.at(-1)?.data.status, 'cancelled');
    });
  });
}

function answerTo({ question }: RunBody): Record<string, unknown> {
  const fields = Object.entries(question?.form.properties ?? {}) as [string, { type?: string; enum?: unknown[] }][];
  return Object.fromEntries(
    fields.map(([name, { type, enum: of }]) => [name, of?.[0] ?? (type === 'boolean' ? true : 'x')]),
  );
}
