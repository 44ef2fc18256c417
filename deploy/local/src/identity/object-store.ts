// The protocol's objects in Postgres: sessions, grants, codes, refresh tokens, registered clients. All of them expire
// and are swept.

import type { Clock, Timer } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import type { Sql } from '@methods/postgres/pool';
import { type Adapter, errors } from 'oidc-provider';

/** For objects that the protocol never expires: clients that registered themselves. */
const WITHOUT_END_S = 90 * 86_400;
const SWEEP_ROWS_MAX = 1_000;

/** An adapter of oidc-provider for one model. */
export function objectStore(sql: Sql): (model: string) => Adapter {
  return (model) => ({
    async upsert(id, payload, expiresInS = WITHOUT_END_S) {
      const { grantId, userCode, uid } = payload as { grantId?: string; userCode?: string; uid?: string };
      await sql`
        insert into identity.objects (model, id, payload, grant_id, user_code, uid, expires_at)
        values (${model}, ${id}, ${JSON.stringify(payload)}, ${grantId ?? null}, ${userCode ?? null}, ${uid ?? null},
          now() + make_interval(secs => ${expiresInS}))
        on conflict (model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id,
          user_code = excluded.user_code, uid = excluded.uid, expires_at = excluded.expires_at`;
    },
    async find(id) {
      if (!storable(id)) return undefined;
      return read(await sql<Row[]>`${columns(sql)} where model = ${model} and id = ${id} and expires_at > now()`);
    },
    async findByUserCode(userCode) {
      if (!storable(userCode)) return undefined;
      return read(
        await sql<Row[]>`${columns(sql)} where model = ${model} and user_code = ${userCode} and expires_at > now()`,
      );
    },
    async findByUid(uid) {
      if (!storable(uid)) return undefined;
      return read(await sql<Row[]>`${columns(sql)} where model = ${model} and uid = ${uid} and expires_at > now()`);
    },
    async consume(id) {
      const { count } = await sql`
        update identity.objects set consumed_at = now()
        where model = ${model} and id = ${id} and consumed_at is null`;
      // Two concurrent exchanges have both read it as unused: one of them is refused here.
      if (count === 0) throw new errors.InvalidGrant('already used');
    },
    async destroy(id) {
      await sql`delete from identity.objects where model = ${model} and id = ${id}`;
    },
    async revokeByGrantId(grantId) {
      await sql`delete from identity.objects where model = ${model} and grant_id = ${grantId}`;
    },
  });
}

/** Deletes expired objects, some at a time; returns how many. */
export async function sweepObjects(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from identity.objects where ctid in (
      select ctid from identity.objects where expires_at < now() limit ${SWEEP_ROWS_MAX})`;
  return count;
}

interface Row {
  readonly payload: string;
  readonly consumedS: number | null;
}

function columns(sql: Sql) {
  return sql`select payload, extract(epoch from consumed_at)::int as "consumedS" from identity.objects`;
}

function read([row]: readonly Row[]): Record<string, unknown> | undefined {
  if (row === undefined) return undefined;
  return { ...JSON.parse(row.payload), ...(row.consumedS === null ? {} : { consumed: row.consumedS }) };
}

/** Ids come from requests; ours are short and printable, and Postgres refuses some others with an error. */
function storable(id: string): boolean {
  return /^[\x21-\x7e]{1,1024}$/.test(id);
}

const BETWEEN_MS = 60_000;

/** Deletes expired objects of the identity provider: a batch a minute, and more while there are more. */
export class Sweep implements Stoppable {
  private timer: Timer | null = null;
  private stopped = false;

  constructor(
    /** Deletes some; returns how many went. */
    private readonly sweep: () => Promise<number>,
    private readonly clock: Clock,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  start(): void {
    this.again();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private again(): void {
    if (!this.stopped) this.timer = this.clock.after(BETWEEN_MS, () => void this.round());
  }

  private async round(): Promise<void> {
    try {
      while ((await this.sweep()) > 0 && !this.stopped);
    } catch (error) {
      this.logger.warn({ error }, 'expired objects could not be deleted; trying again later');
    }
    this.again();
  }
}
