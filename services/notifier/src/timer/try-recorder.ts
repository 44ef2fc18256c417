// Writes results of tries, many in one statement: during a write the next ones are collected. It keeps trying while
// Postgres is unavailable; its results are bounded by the sends in flight, which wait for it.
import { Backoff } from '@methods/base/backoff';
import type { Clock } from '@methods/base/clock';
import type { Logger } from '@methods/logging/logger';
import type { TryRecord } from '../store/record-tries.ts';
import { writeApart } from '../store/write-apart.ts';

/** Returns the ids of the deliveries whose result counts. */
export type WriteTries = (records: readonly TryRecord[]) => Promise<ReadonlySet<string>>;

interface Waiting {
  readonly record: TryRecord;
  readonly settle: () => void;
}

export class TryRecorder {
  private waiting: Waiting[] = [];
  private writing = false;
  private givenUp = false;

  constructor(
    private readonly write: WriteTries,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Resolves when the result is durable, or the delivery no longer exists. */
  record(record: TryRecord): Promise<void> {
    return new Promise((settle) => {
      this.waiting.push({ record, settle });
      if (!this.writing) void this.writeAll();
    });
  }

  /** For a node that stops without Postgres: its claims expire, and others try again. */
  giveUp(): void {
    this.givenUp = true;
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    const backoff = new Backoff({ firstMs: 100, maxMs: 1_000 });
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      if (await this.writeBatch(batch)) {
        backoff.reset();
        for (const { settle } of batch) settle();
      } else {
        this.waiting = [...batch, ...this.waiting];
        await new Promise<void>((resume) => this.clock.after(backoff.nextMs(), resume));
      }
    }
    this.writing = false;
  }

  private async writeBatch(batch: readonly Waiting[]): Promise<boolean> {
    try {
      await writeApart(
        batch.map(({ record }) => record),
        (records) => this.writeRecords(records),
        (record, code) => this.writeBare(record, code),
      );
      return true;
    } catch (error) {
      if (this.givenUp) return true;
      this.logger.warn({ error, records: batch.length }, 'results of webhook tries could not be written; trying again');
      return false;
    }
  }

  private async writeRecords(records: readonly TryRecord[]): Promise<void> {
    const kept = await this.write(records);
    for (const record of records) if (!kept.has(record.delivery.deliveryId)) this.tellLapsed(record);
  }

  /** The try is recorded without the receiver's answer: an unrecorded try would be repeated forever. */
  private async writeBare(record: TryRecord, code: string): Promise<void> {
    const { orgId, deliveryId } = record.delivery;
    this.logger.error({ org_id: orgId, delivery_id: deliveryId, code }, 'the answer to a webhook could not be kept');
    const result = record.result && { ...record.result, error: '', answerStart: '' };
    await writeApart(
      [{ ...record, result }],
      (records) => this.writeRecords(records),
      () => {},
    );
  }

  private tellLapsed(record: TryRecord): void {
    this.logger.warn(
      { org_id: record.delivery.orgId, run_id: record.delivery.runId, delivery_id: record.delivery.deliveryId },
      'a try took longer than its claim; another node has taken the delivery over',
    );
  }
}
