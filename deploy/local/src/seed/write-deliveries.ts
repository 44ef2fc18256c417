// Writes deliveries of made-up runs into the tables of a local stack: delivered, stopped, and without a try left.
import { createHash } from 'node:crypto';
import { newId, type OrgId, type RunId } from '@methods/base/ids';
import type { Sql } from '@methods/postgres/pool';

const TRIES_MAX = 6;
const URL = 'https://shop.example/hooks/methods';

export interface DeliveredRun {
  readonly runId: RunId;
  readonly event: 'failed' | 'succeeded' | 'cancelled';
  readonly endedAtMs: number;
}

export async function writeDeliveries(sql: Sql, orgId: OrgId, runs: readonly DeliveredRun[]): Promise<void> {
  const rows = runs.map(({ runId, event, endedAtMs }, n) => {
    const status = n % 12 === 0 ? 'exhausted' : n % 50 === 1 ? 'stopped' : 'delivered';
    const tries = status === 'exhausted' ? TRIES_MAX : 1 + (n % 3 === 0 ? 1 : 0);
    const body = JSON.stringify({ event, run_id: runId, status: event });
    return { delivery_id: newId('dlv', endedAtMs), run_id: runId, event, status, tries, at: endedAtMs, body };
  });
  const json = JSON.stringify(rows);
  await sql`
    insert into notifier.deliveries (org_id, delivery_id, run_id, seq, url, url_sha256, host, event, key_id, body, status, tries,
      due_at, created_at, ended_at)
    select ${orgId}, delivery_id, run_id, 3, ${URL}, ${createHash('sha256').update(URL).digest()}, 'shop.example', event, '',
      convert_to(body, 'UTF8'), status, tries, to_timestamp(at / 1000.0), to_timestamp(at / 1000.0), to_timestamp(at / 1000.0 + tries)
    from json_to_recordset(${json}::text::json) as t(delivery_id text, run_id text, event text, status text, tries integer,
      at float8, body text)`;
  await sql`
    insert into notifier.delivery_tries (org_id, delivery_id, try, started_at, duration_ms, http_status, error, answer_start)
    select ${orgId}, delivery_id, n, to_timestamp(at / 1000.0 + 5 * (n - 1)), 40 + 7 * n,
      case when status = 'delivered' and n = tries then 200 when status = 'stopped' and n = tries then 410
        when n % 2 = 0 then 503 else 0 end,
      case when n = tries and status <> 'exhausted' or n % 2 = 0 then '' else 'timeout' end,
      case when n % 2 = 0 then '<h1>503</h1>' else '' end
    from json_to_recordset(${json}::text::json) as t(delivery_id text, status text, tries integer, at float8),
      generate_series(1, tries) n`;
}
