// Following all runs of an organization: one connection gets each that waits or finishes, at any gateway.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../../harness/until.ts';
import { followEvents } from '../followed-events.ts';
import type { Stack } from '../stack.ts';

export function organizationEvents(stack: () => Stack): void {
  describe("an organization's events", () => {
    async function follow(baseUrl: string, lastEventId?: string) {
      const followed = await followEvents(`${baseUrl}/v1/events`, stack().api.apiKey, lastEventId);
      await until('it begins', () => followed.events.length > 0);
      return followed;
    }

    test('are its runs that wait and finish, as GET gives them, also for a reader that comes back', async () => {
      const { api } = stack();
      const other = stack().gateways.at(-1) ?? stack().ready.base_url;
      const [here, there] = [await follow(api.baseUrl), await follow(other)];
      assert.deepEqual([here.events[0]?.event, there.events[0]?.event], ['ready', 'ready']);
      const { run } = await api.start({ method: stack().method('two-questions') });
      const asked = await api.settled(run.run_id);
      await api.cancel(run.run_id);
      const ours = (events: typeof here.events) =>
        events.filter(({ event, data }) => event === 'run' && data.run_id === run.run_id);
      const told = (events: typeof here.events) =>
        events.flatMap(({ event, data }) => (event !== 'run' && data.run_id === run.run_id ? [event] : []));
      await until('both have its end', () =>
        [here, there].every(({ events }) => ours(events).length === 2 && told(events).length === 2),
      );
      const now = await api.settled(run.run_id);
      for (const { events } of [here, there]) {
        const [waiting, cancelled] = ours(events);
        assert.deepEqual(waiting?.data.question, asked.question);
        assert.deepEqual(cancelled?.data, now);
        assert.deepEqual(told(events), ['question', 'question.closed']);
      }
      const since = ours(here.events)[0]?.id ?? '';
      here.leave();
      const again = await follow(api.baseUrl, since);
      await until('it has what it missed', () => ours(again.events).length === 1);
      assert.deepEqual([again.events[0]?.event, ours(again.events)[0]?.data], ['ready', now]);
      const lost = await follow(api.baseUrl, 'gone');
      assert.equal(lost.events[0]?.event, 'resync');
      for (const { leave } of [there, again, lost]) leave();
    });
  });
}
