// Which of these events have been stored.
import type { OrgId, RunId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';
import { eventName } from '../delivery/event-order.ts';

export interface EventKey {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly seq: number;
}

/** Their names. */
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
