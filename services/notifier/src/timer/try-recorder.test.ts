import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { newId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import {
  claimRequest,
  type NotifierDatabase,
  notifierDatabase,
  planned,
} from '../../test/notifier-database.fixture.ts';
import { claimDeliveries } from '../store/claim-deliveries.ts';
import { recordTries } from '../store/record-tries.ts';
import { storeDeliveries } from '../store/store-deliveries.ts';
import { TryRecorder } from './try-recorder.ts';

let database: NotifierDatabase;
before(async () => {
  database = await notifierDatabase();
});
after(() => database[Symbol.asyncDispose]());

test('an answer that Postgres refuses is left out of its record, and every other record is written', async () => {
  const { sql } = database;
  const orgId = newId('org');
  await storeDeliveries(
    sql,
    Array.from({ length: 5 }, () => planned({ orgId })),
  );
  const { claimed } = await claimDeliveries(sql, claimRequest());
  const recorder = new TryRecorder((records) => recordTries(sql, records), systemClock, silentLogger);
  const answers = ['a', 'b', 'c\u0000', 'd', 'e'];
  await Promise.all(
    claimed.map((delivery, i) => {
      const result = { startedAtMs: 1, durationMs: 1, httpStatus: 500, error: '', answerStart: answers[i] ?? '' };
      return recorder.record({ delivery, after: { status: 'exhausted', waitMs: 0 }, result });
    }),
  );
  const tries = await sql<{ answer_start: string }[]>`
    select answer_start from notifier.delivery_tries where org_id = ${orgId} order by answer_start`;
  assert.deepEqual(
    tries.map((row) => row.answer_start),
    ['', 'a', 'b', 'd', 'e'],
  );
});
