import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrgId } from '@methods/base/ids';
import { SendSlots } from './send-slots.ts';

const send = (orgId: OrgId, host: string, bytes = 1) => ({ orgId, host, body: Buffer.alloc(bytes) });
const slots = () => new SendSlots({ sendsMax: 16, bytesMax: 1_000, perHostMax: 2, mailsMax: 1 });

/** Adds as many sends as it has room for, each to a different host; returns their number. */
function fill(into: SendSlots, orgId: OrgId): number {
  let sent = 0;
  for (;;) {
    const { busy, idle } = into.room();
    const room = busy.find((each) => each.orgId === orgId)?.sends ?? idle.sends;
    if (room <= 0 || into.free <= 0) return sent;
    into.take(send(orgId, `host${sent++}`));
  }
}

test('one organization gets half of the sends, the next ones less, and each newcomer one while any is free', () => {
  const all = slots();
  assert.deepEqual(
    (['org_a', 'org_b', 'org_c', 'org_d', 'org_e', 'org_f'] as const).map((orgId) => fill(all, orgId)),
    [8, 4, 2, 1, 1, 0],
  );
});

test('the bytes of bodies are shared like the sends, and none are taken once they are used up', () => {
  const all = slots();
  all.take(send('org_a', 'host', 400));
  assert.equal(all.room().busy[0]?.bytes, 100);
  assert.equal(all.room().idle.bytes, 300);
  all.take(send('org_b', 'host', 600));
  assert.equal(all.free, 0);
  assert.ok((all.room().busy[0]?.bytes ?? 1) <= 0);
});

test('a host is counted by organization, and a returned place leaves nothing behind', () => {
  const all = slots();
  const sends = [send('org_a', 'host'), send('org_a', 'host'), send('org_b', 'host')];
  for (const each of sends) all.take(each);
  const { busy } = all.room();
  assert.deepEqual(
    busy.map(({ hosts }) => hosts.get('host')),
    [0, 1],
  );
  for (const each of sends) all.giveBack(each);
  assert.deepEqual([all.room().busy, all.free, all.freeBytes], [[], 16, 1_000]);
});
