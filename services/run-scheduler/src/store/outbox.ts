// The outbox as the relay reads it: first the runs with due events, a share of each organization at a time; then the
// small columns of each event; last the bodies, only of events sent now.
import type { OrgId, RunId } from '@methods/base/ids';
import { storageFault } from '@methods/postgres/database-fault';
import { withDeadline } from '@methods/postgres/deadline';
import { FLUSHED_LATER } from '@methods/postgres/flushed-later';
import type { Sql } from '@methods/postgres/pool';
import { arrayLiteral } from './array-literal.ts';
import type { OutboxEvent } from './run-store.ts';

/** An event is sent with its commit; without a confirmation it is due after this time. */
export const UNCONFIRMED_MS = 5_000;
/** Events of a shard that one statement reads, for any number of shards. */
const SHARD_EVENTS_MIN = 16;

/**
 * A statement that changes rows never waits for one that removes them: they would lock rows in different orders, and a
 * deadlock would undo the work of one of them. A skipped row is removed a moment later.
 */
const NOT_BEING_REMOVED = 'for update of o skip locked';

export interface OutboxRun {
  readonly orgId: OrgId;
  readonly runId: RunId;
}

/** An event without its body. */
export interface OutboxEntry extends Omit<OutboxEvent, 'body'> {
  readonly bytes: number;
}

export interface EntryLimits {
  readonly perRunMax: number;
  readonly entriesMax: number;
}

export interface DueQuery {
  readonly shards: readonly number[];
  readonly nowMs: number;
  /** Returns only organizations after this one, in the order of their ids. */
  readonly afterOrgId: string;
  readonly orgsMax: number;
  /** Per organization. */
  readonly runsMax: number;
  /** Organizations to skip. */
  readonly without: readonly string[];
}

export interface DueRuns {
  readonly runs: readonly OutboxRun[];
  /** The number of organizations read. */
  readonly orgs: number;
  /** Null: no organization follows. */
  readonly lastOrgId: string | null;
}

export interface Rescheduled {
  readonly outboxId: string;
  readonly orgId: OrgId;
  readonly sendAtMs: number;
}

/** Events of these shards that are not due yet. */
export interface Overdue {
  /** Each with the time up to which its events were read. */
  readonly shards: readonly { readonly shard: number; readonly afterMs: number }[];
  /** Events of this time and earlier. */
  readonly beforeMs: number;
  /** Includes events that the bus took. */
  readonly sentToo: boolean;
}

export interface Outbox {
  /** Runs with due events, oldest first within each organization; a run may be listed twice. */
  dueRuns(query: DueQuery): Promise<DueRuns>;
  /** For each run, its events that are due or that the bus never took, in order. */
  entriesOf(runs: readonly OutboxRun[], nowMs: number, limits: EntryLimits): Promise<OutboxEntry[]>;
  /** Bodies by outbox id, without events removed meanwhile. */
  bodies(entries: readonly OutboxEntry[]): Promise<Map<string, Uint8Array>>;
  /** The bus took these events. */
  sent(events: readonly Rescheduled[]): Promise<void>;
  /** Postpones the events of these runs to `sendAtMs`. */
  postpone(runs: readonly (OutboxRun & { readonly sendAtMs: number })[]): Promise<void>;
  /** Reads up to about `count` events and makes them due at once; returns the shards that remain. */
  makeDue(overdue: Overdue, nowMs: number, eventsMax: number): Promise<Overdue | null>;
  remove(outboxIds: readonly string[]): Promise<void>;
}

export class PostgresOutbox implements Outbox {
  constructor(private readonly options: { readonly sql: Sql; readonly deadlineMs: number }) {}

  async dueRuns(query: DueQuery): Promise<DueRuns> {
    // Walks from one organization to the next by the index, at a cost independent of their number of events; then reads
    // the first events of each.
    const rows = await this.query<{ org_id: OrgId; run_id: RunId | null }>(
      `with recursive orgs(org_id, n) as (
         (select o.org_id, 1 from scheduler.outbox o where o.org_id > $1 order by o.org_id limit 1)
         union all
         select next.org_id, orgs.n + 1 from orgs, lateral (
           select o.org_id from scheduler.outbox o where o.org_id > orgs.org_id order by o.org_id limit 1) next
         where orgs.n < $2::integer)
       select orgs.org_id, due.run_id from orgs left join lateral (
         select o.run_id from scheduler.outbox o
         where o.org_id = orgs.org_id and o.send_at_ms <= $3::bigint and (o.shard = any($4::smallint[])) is true
           and orgs.org_id <> all($5::text[])
         order by o.send_at_ms limit $6) due on true
       order by orgs.n`,
      [
        query.afterOrgId,
        String(query.orgsMax),
        String(Math.round(query.nowMs)),
        arrayLiteral(query.shards),
        arrayLiteral(query.without),
        String(query.runsMax),
      ],
    );
    const orgs = new Set(rows.map((row) => row.org_id)).size;
    const runs = rows.flatMap(({ org_id: orgId, run_id: runId }) => (runId === null ? [] : [{ orgId, runId }]));
    return { runs, orgs, lastOrgId: orgs < query.orgsMax ? null : (rows.at(-1)?.org_id ?? null) };
  }

  async entriesOf(
    runs: readonly OutboxRun[],
    nowMs: number,
    { perRunMax, entriesMax }: EntryLimits,
  ): Promise<OutboxEntry[]> {
    const rows = await this.query<{
      outbox_id: string;
      org_id: OrgId;
      run_id: RunId;
      shard: number;
      seq: number;
      created_at_ms: number;
      bytes: number;
    }>(
      // The length of a large body is known without reading the body.
      `select o.outbox_id, o.org_id, o.run_id, o.shard, o.seq, o.created_at_ms::float8, o.bytes
       from unnest($1::text[], $2::text[]) with ordinality as r(run_id, org_id, n), lateral (
         select outbox_id, org_id, run_id, shard, seq, created_at_ms, octet_length(body) as bytes from scheduler.outbox o
         where o.run_id = r.run_id and o.org_id = r.org_id and (not o.sent or o.send_at_ms <= $3::bigint)
         order by o.seq limit $4) o
       order by r.n, o.seq limit $5`,
      [
        arrayLiteral(runs.map((run) => run.runId)),
        arrayLiteral(runs.map((run) => run.orgId)),
        String(Math.round(nowMs)),
        String(perRunMax),
        String(entriesMax),
      ],
    );
    return rows.map((r) => ({
      outboxId: r.outbox_id,
      orgId: r.org_id,
      runId: r.run_id,
      shard: r.shard,
      seq: r.seq,
      createdAtMs: r.created_at_ms,
      bytes: r.bytes,
    }));
  }

  async bodies(entries: readonly OutboxEntry[]): Promise<Map<string, Uint8Array>> {
    const rows = await this.query<{ outbox_id: string; body: Uint8Array }>(
      `select o.outbox_id, o.body from unnest($1::text[], $2::text[]) as t(outbox_id, org_id)
       join scheduler.outbox o on o.outbox_id = t.outbox_id and o.org_id = t.org_id`,
      [arrayLiteral(entries.map((entry) => entry.outboxId)), arrayLiteral(entries.map((entry) => entry.orgId))],
    );
    return new Map(rows.map((row) => [row.outbox_id, row.body]));
  }

  async sent(events: readonly Rescheduled[]): Promise<void> {
    await this.query(
      `update scheduler.outbox o set sent = true, send_at_ms = t.send_at_ms
       from (select outbox_id, org_id, t.send_at_ms
         from unnest($1::text[], $2::text[], $3::bigint[]) as t(outbox_id, org_id, send_at_ms)
         join scheduler.outbox o using (outbox_id, org_id) ${NOT_BEING_REMOVED}) t
       where o.outbox_id = t.outbox_id and o.org_id = t.org_id`,
      [
        arrayLiteral(events.map((event) => event.outboxId)),
        arrayLiteral(events.map((event) => event.orgId)),
        arrayLiteral(events.map((event) => Math.round(event.sendAtMs))),
      ],
    );
  }

  async postpone(runs: readonly (OutboxRun & { readonly sendAtMs: number })[]): Promise<void> {
    await this.query(
      `update scheduler.outbox o set send_at_ms = t.send_at_ms
       from (select o.outbox_id, o.org_id, t.send_at_ms
         from unnest($1::text[], $2::text[], $3::bigint[]) as t(run_id, org_id, send_at_ms)
         join scheduler.outbox o on o.run_id = t.run_id and o.org_id = t.org_id and o.send_at_ms < t.send_at_ms
         ${NOT_BEING_REMOVED}) t
       where o.outbox_id = t.outbox_id and o.org_id = t.org_id`,
      [
        arrayLiteral(runs.map((run) => run.runId)),
        arrayLiteral(runs.map((run) => run.orgId)),
        arrayLiteral(runs.map((run) => Math.round(run.sendAtMs))),
      ],
    );
  }

  async makeDue(overdue: Overdue, nowMs: number, eventsMax: number): Promise<Overdue | null> {
    const { shards, beforeMs, sentToo } = overdue;
    const perShardMax = Math.max(SHARD_EVENTS_MIN, Math.ceil(eventsMax / shards.length));
    // Reads each event once, due or not, together with all others of its millisecond, so that a time is a position.
    const rows = await this.query<{ shard: number; looked: number; last_ms: number }>(
      `with looked as materialized (
         select s.shard, e.outbox_id, e.org_id, e.created_at_ms
         from unnest($1::smallint[], $2::bigint[]) as s(shard, after_ms), lateral (
           select outbox_id, org_id, created_at_ms from scheduler.outbox
           where shard = s.shard and created_at_ms > s.after_ms and created_at_ms <= $3::bigint
           order by created_at_ms fetch first ($6::integer) rows with ties) e),
       later as (
         select outbox_id, org_id from looked join scheduler.outbox o using (outbox_id, org_id)
         where o.send_at_ms > $4::bigint and (not o.sent or $5::integer = 1) ${NOT_BEING_REMOVED}),
       made as (
         update scheduler.outbox o set send_at_ms = least(o.created_at_ms, $4::bigint) from later
         where o.outbox_id = later.outbox_id and o.org_id = later.org_id)
       select shard, count(*)::integer as looked, max(created_at_ms) as last_ms from looked group by shard`,
      [
        arrayLiteral(shards.map(({ shard }) => shard)),
        arrayLiteral(shards.map(({ afterMs }) => afterMs)),
        String(Math.round(beforeMs)),
        String(Math.round(nowMs)),
        sentToo ? '1' : '0',
        String(perShardMax),
      ],
    );
    const left = rows.filter(({ looked }) => looked >= perShardMax);
    if (left.length === 0) return null;
    return { ...overdue, shards: left.map(({ shard, last_ms: afterMs }) => ({ shard, afterMs })) };
  }

  async remove(outboxIds: readonly string[]): Promise<void> {
    // A row that reappears after a crash of Postgres is sent again, recognized by the notifier, and removed again.
    await this.query(`delete from scheduler.outbox o using ${FLUSHED_LATER} where o.outbox_id = any($1::text[])`, [
      arrayLiteral(outboxIds),
    ]);
  }

  private async query<Row extends object>(text: string, parameters: string[]): Promise<Row[]> {
    const query = this.options.sql.unsafe<Row[]>(text, parameters, { prepare: true });
    try {
      return await withDeadline(query, this.options.deadlineMs);
    } catch (error) {
      throw storageFault(error);
    }
  }
}
