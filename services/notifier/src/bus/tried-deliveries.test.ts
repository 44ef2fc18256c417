import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, newRunId } from '@methods/base/ids';
import { deliveryTried } from '@methods/bus/subjects';
import { DeliveriesTriedSchema } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';
import type { TryRecord } from '../store/record-tries.ts';
import { publishTries } from './tried-deliveries.ts';

const decode = decoder(DeliveriesTriedSchema);

function tried(orgId: 'org_a' | 'org_b', httpStatus: number | null): TryRecord {
  const delivery = {
    orgId,
    deliveryId: newId('dlv'),
    runId: newRunId(0),
    event: 'failed',
    kind: 'webhook',
    endpointId: '',
  };
  const result = httpStatus === null ? null : { httpStatus };
  return { delivery, result, after: { status: 'pending', waitMs: 1 } } as unknown as TryRecord;
}

function published(records: readonly TryRecord[]) {
  const sent: { subject: string; ids: string[]; statuses: number[] }[] = [];
  publishTries(records, (subject, bytes) => {
    const { deliveries } = decode(Buffer.from(bytes));
    const [ids, statuses] = [deliveries.map((d) => d.deliveryId as string), deliveries.map((d) => d.httpStatus)];
    return sent.push({ subject, ids, statuses }) > 0;
  });
  return sent;
}

test('each organization gets its own tries, and none for which nothing was sent', () => {
  const [a, b, unsent, again] = [tried('org_a', 500), tried('org_b', 0), tried('org_a', null), tried('org_a', 204)];
  assert.deepEqual(published([a, b, unsent, again]), [
    { subject: deliveryTried('org_a'), ids: [a.delivery.deliveryId, again.delivery.deliveryId], statuses: [500, 204] },
    { subject: deliveryTried('org_b'), ids: [b.delivery.deliveryId], statuses: [0] },
  ]);
});

test("many tries become several messages, each well below the bus's limit", () => {
  const sent = published(Array.from({ length: 600 }, () => tried('org_a', 200)));
  assert.deepEqual(
    sent.map(({ ids }) => ids.length),
    [256, 256, 88],
  );
});
