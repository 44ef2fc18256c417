// One wide record an operation: fields are gathered on the way and written once, at the end, with the time it took.
import { type Clock, systemClock } from '@methods/base/clock';
import type { LogFields, Logger } from './logger.ts';

export class WideRecord {
  private readonly startedAtMs: number;
  private fields: Record<string, unknown> = {};
  private written = false;

  constructor(
    private readonly logger: Logger,
    private readonly message: string,
    private readonly clock: Clock = systemClock,
  ) {
    this.startedAtMs = clock.monotonicMs();
  }

  add(fields: LogFields): this {
    Object.assign(this.fields, fields);
    return this;
  }

  /** Writes the record with `total_ms`; a second call does nothing. */
  write(level: 'debug' | 'info' | 'warn' | 'error' = 'info'): void {
    if (this.written) return;
    this.written = true;
    const totalMs = Math.round((this.clock.monotonicMs() - this.startedAtMs) * 10) / 10;
    this.logger[level]({ ...this.fields, total_ms: totalMs }, this.message);
  }
}
