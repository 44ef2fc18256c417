// A relay between a real outbox and a bus that a test lets take events, refuse them or keep them waiting. The node owns
// the shards 0 and 1.

import { create, toBinary } from '@bufbuild/protobuf';
import type { OrgId, RunId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import { ManualClock } from '../manual-clock.fixture.ts';
import { DatabaseClock } from '../store/database-clock.ts';
import { PostgresOutbox, UNCONFIRMED_MS } from '../store/outbox.ts';
import { newFacts, type TestStore } from '../store/run-store.fixture.ts';
import type { OutboxEvent } from '../store/run-store.ts';
import { EventRelay } from './event-relay.ts';

const T0 = 1_000_000;

export class TestRelay {
  readonly clock = new ManualClock();
  readonly relay: EventRelay;
  /** `<run>.<seq>` in the order the bus took them. */
  readonly taken: string[] = [];
  /** How many events the bus was asked to take. */
  asked = 0;
  refuses: (event: OutboxEvent) => boolean = () => false;
  refusal = new Error('the bus is away');
  /** Events that the bus has neither taken nor refused; null: it does so at once. */
  held: { event: OutboxEvent; take: () => void }[] | null = null;
  /** Called when the outbox has been read to its end, before the sweep continues. */
  endRead = async () => {};
  /** How long a statement that removes rows keeps them locked. */
  removalMs = 0;
  /** The notifier confirms every event at once by default; true: the test confirms. */
  confirms = false;
  private readonly databaseClock = new DatabaseClock(this.clock);
  private readonly owned = [0, 1];

  private constructor(private readonly db: TestStore) {
    this.databaseClock.observe(T0);
    const { owned } = this;
    const outbox = new PostgresOutbox({ sql: db.outbox, deadlineMs: 60_000 });
    const { dueRuns, remove } = outbox;
    outbox.remove = (outboxIds) =>
      this.removalMs === 0 ? remove.call(outbox, outboxIds) : this.removeSlowly(outboxIds);
    outbox.dueRuns = async (query) => {
      const due = await dueRuns.call(outbox, query);
      if (due.runs.length === 0) await this.endRead();
      return due;
    };
    this.relay = new EventRelay({
      outbox,
      publisher: { publish: (event) => this.publish(event) },
      databaseClock: this.databaseClock,
      shardCount: 4,
      ownedShards: () => owned,
      owns: (shard) => owned.includes(shard),
      heard: { confirmed: () => {} },
      logger: silentLogger,
    });
  }

  /** Begins with an empty outbox. */
  static async on(db: TestStore): Promise<TestRelay> {
    // Waits for removals by the relay of the test before, with which a `delete` would deadlock.
    await db.sql`truncate scheduler.outbox`;
    return new TestRelay(db);
  }

  /** Ends a sweep in progress, so that it does not touch the rows of the next test. */
  end(): void {
    this.owned.length = 0;
  }

  /** Stores an event as its commit does: as a row. */
  async eventOf(runId: RunId, seq: number, ageMs = 0, shard = 0, orgId: OrgId = 'org_a'): Promise<OutboxEvent> {
    const createdAtMs = this.databaseClock.nowMs() - ageMs;
    const event = {
      outboxId: `${runId}.${seq}`,
      orgId,
      runId,
      shard,
      seq,
      createdAtMs,
      body: Buffer.of(1),
    };
    await this.db
      .sql`insert into scheduler.outbox (outbox_id, org_id, run_id, shard, seq, body, created_at_ms, send_at_ms)
      values (${event.outboxId}, ${orgId}, ${runId}, ${shard}, ${seq}, ${event.body}, ${createdAtMs}, ${createdAtMs + UNCONFIRMED_MS})`;
    return event;
  }

  /** Stores first events of this many runs, all with the same time. */
  async backlog(
    count: number,
    ageMs: number,
    { bodyBytes = 1, orgId = 'org_a' }: { bodyBytes?: number; orgId?: OrgId } = {},
  ): Promise<OutboxEvent[]> {
    const createdAtMs = this.databaseClock.nowMs() - ageMs;
    const runs = Array.from({ length: count }, () => newFacts(0).runId);
    await this.db
      .sql`insert into scheduler.outbox (outbox_id, org_id, run_id, shard, seq, body, created_at_ms, send_at_ms)
      select r || '.1', ${orgId}, r, 0, 1, convert_to(repeat('x', ${bodyBytes}), 'utf8'), ${createdAtMs},
        ${createdAtMs + UNCONFIRMED_MS} from unnest(${runs}::text[]) r`;
    const body = Buffer.of(1);
    return runs.map((runId) => ({ outboxId: `${runId}.1`, orgId, runId, shard: 0, seq: 1, createdAtMs, body }));
  }

  confirm(outboxIds: string[]): void {
    this.relay.confirmed(toBinary(StoredEventsSchema, create(StoredEventsSchema, { outboxIds })));
  }

  async commit(runId: RunId, seq: number, shard = 0, orgId: OrgId = 'org_a'): Promise<void> {
    this.relay.committed([await this.eventOf(runId, seq, 0, shard, orgId)]);
    await new Promise(setImmediate);
  }

  async rows(orgId = 'org_a'): Promise<string[]> {
    const found = await this.db.sql<{ outbox_id: string }[]>`
      select outbox_id from scheduler.outbox where org_id = ${orgId} order by seq`;
    return found.map((row) => row.outbox_id);
  }

  private async removeSlowly(outboxIds: readonly string[]): Promise<void> {
    await this.db.sql`with gone as (delete from scheduler.outbox where outbox_id = any(${outboxIds}::text[]))
      select pg_sleep(${this.removalMs} / 1000.0)`;
  }

  private publish(event: OutboxEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      this.asked++;
      const take = () => {
        this.taken.push(event.outboxId);
        resolve();
        if (this.confirms) setImmediate(() => this.confirm([event.outboxId]));
      };
      if (this.held !== null) this.held.push({ event, take });
      else if (this.refuses(event)) reject(this.refusal);
      else take();
    });
  }
}

export function newRun(shard = 0): RunId {
  return newFacts(shard).runId;
}
