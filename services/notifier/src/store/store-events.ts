// Stores what a batch of run events leads to, whole or not at all: deliveries, and which questions are open.
import type { Sql } from '@methods/postgres/pool';
import type { PlannedDelivery } from '../delivery/delivery.ts';
import { endLinks } from './answer-links.ts';
import { type QuestionChange, recordQuestions } from './mailed-questions.ts';
import { storeDeliveries } from './store-deliveries.ts';

export interface PlannedEvent {
  readonly deliveries: readonly PlannedDelivery[];
  /** Null: the event neither asks people by mail nor closes a question. */
  readonly question: QuestionChange | null;
}

/** Durable when it resolves. What is known already stays as it is. */
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
