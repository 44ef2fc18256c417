// Stores the consequences of a batch of run events, whole or not at all (deliveries, and which questions are open), and
// reports which events have been stored.

import type { OrgId, RunId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';
import type { PlannedDelivery } from '../delivery/delivery.ts';
import { eventName } from '../delivery/event-order.ts';
import { endLinks } from './answer-links.ts';
import { type QuestionChange, recordQuestions } from './mailed-questions.ts';
import { storeDeliveries } from './store-deliveries.ts';

export interface PlannedEvent {
  readonly deliveries: readonly PlannedDelivery[];
  /** Null: the event neither asks people by mail nor closes a question. */
  readonly question: QuestionChange | null;
}

/** Durable when it resolves. What is known already is not changed. */
export async function storeEvents(sql: Sql, events: readonly PlannedEvent[]): Promise<void> {
  const deliveries = events.flatMap((event) => event.deliveries);
  const questions = events.flatMap(({ question }) => question ?? []);
  if (questions.length === 0) {
    await storeDeliveries(sql, deliveries);
    return;
  }
  await sql.begin(async (tx) => {
    await recordQuestions(tx, questions);
    await endLinks(
      tx,
      questions.filter(({ isClosed }) => isClosed),
    );
    await storeDeliveries(tx, deliveries);
  });
}

/** Which of these events have been stored. */
export interface EventKey {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly seq: number;
}

/** Returns their names. */
export async function storedEvents(sql: Sql, events: readonly EventKey[]): Promise<Set<string>> {
  if (events.length === 0) return new Set();
  const rows = await sql<{ org_id: OrgId; run_id: RunId; seq: string }[]>`
    select t.org_id, t.run_id, t.seq
      from unnest(
        ${events.map(({ orgId }) => orgId)}::text[], ${events.map(({ runId }) => runId)}::text[],
        ${events.map(({ seq }) => seq)}::bigint[]
      ) as t(org_id, run_id, seq)
     where exists (
       select from notifier.deliveries d where d.org_id = t.org_id and d.run_id = t.run_id and d.seq = t.seq)`;
  return new Set(rows.map((row) => eventName({ orgId: row.org_id, runId: row.run_id, seq: Number(row.seq) })));
}
