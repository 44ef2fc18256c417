// Methods that an organization offers to agents: its admins choose them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { AccountWorld, MethodBody } from './account-world.ts';

const SOURCE = 'format: method/2\nname: offered\nsteps:\n  - { name: one, node: "return {}" }\n';

interface OfferedBody extends MethodBody {
  readonly offered_to_agents: boolean;
}

export function offered(world: () => AccountWorld): void {
  describe('a method offered to agents', () => {
    test('is chosen by an admin, and the choice is logged', async () => {
      const { admin, member, viewer } = world();
      const body = { idempotency_key: randomUUID(), source: SOURCE };
      const made = (await member.request('POST', '/api/methods', { body })).read<{ method: OfferedBody }>().method;
      assert.equal(made.offered_to_agents, false);
      const path = `/api/methods/${made.id}`;
      const change = (by: typeof admin, fields: object) => by.request('PATCH', path, { body: fields });
      for (const other of [member, viewer]) {
        const refused = await change(other, { offer_to_agents: true });
        assert.deepEqual([refused.status, refused.refusal.error], [403, 'forbidden']);
      }
      const both = await change(admin, { offer_to_agents: true, display_name: 'Both' });
      assert.deepEqual([both.status, both.refusal.details?.[0]?.path], [400, '/offer_to_agents']);
      const offer = await change(admin, { offer_to_agents: true });
      assert.deepEqual([offer.status, offer.read<OfferedBody>().offered_to_agents], [200, true]);
      const read = (await viewer.request('GET', path)).read<OfferedBody>();
      assert.deepEqual([read.offered_to_agents, read.display_name], [true, 'offered']);
      const withdrawn = await change(admin, { offer_to_agents: false });
      assert.equal(withdrawn.read<OfferedBody>().offered_to_agents, false);
      const log = await admin.request('GET', '/api/audit?limit=20');
      const lines = log.read<{ items: { action: string; target: { id: string }; after: object }[] }>().items;
      const offers = lines.filter(({ action, target }) => action === 'method.offer' && target.id === made.id);
      assert.deepEqual(
        offers.map(({ after }) => after),
        [{ offered_to_agents: false }, { offered_to_agents: true }],
      );
    });
  });
}
