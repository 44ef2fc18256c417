import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { newId } from '@methods/base/ids';
import { ListDeliveriesRequestSchema } from '@methods/proto/notifier/v1/notifier_service_pb';
import { type NotifierDatabase, notifierDatabase, planned } from '../../test/notifier-database.fixture.ts';
import { storeDeliveries } from '../store/store-deliveries.ts';
import { listDeliveriesRpc } from './notifier-service.ts';

let database: NotifierDatabase;
before(async () => {
  database = await notifierDatabase();
});
after(() => database[Symbol.asyncDispose]());

test('a page ends when its answers fill a message, and the next one continues', async () => {
  const orgId = newId('org');
  const stored = Array.from({ length: 200 }, () => planned({ orgId }));
  await storeDeliveries(database.sql, stored);
  await database.sql`
    insert into notifier.delivery_tries (org_id, delivery_id, try, started_at, duration_ms, http_status, error, answer_start)
    select org_id, delivery_id, n, now(), 1, 500, '', repeat('x', 1024)
    from notifier.deliveries, generate_series(1, 6) n where org_id = ${orgId}`;
  const listed: string[] = [];
  let cursor = '';
  do {
    const page = await listDeliveriesRpc(
      database.reader,
      create(ListDeliveriesRequestSchema, { orgId, limit: 200, cursor }),
    );
    assert.ok(JSON.stringify(page).length < 1_000_000);
    listed.push(...page.deliveries.map(({ deliveryId }) => deliveryId));
    cursor = page.nextCursor;
  } while (cursor !== '');
  assert.deepEqual(
    listed,
    stored
      .map(({ deliveryId }) => deliveryId)
      .toSorted()
      .toReversed(),
  );
});
