// Consumes the runs' lifecycle events, which all notifiers share.
import type { Stoppable } from '@methods/base/stoppable';
import type { Bus } from '@methods/bus/connection';
import type { RunEventIntake } from './run-event-intake.ts';

/** Name of the shared consumer. Changing it makes a new one that reads all stored events again. */
const DURABLE = 'notifier';
/** Of all notifiers together; bounds what waits in memory. */
const EVENTS_IN_FLIGHT_MAX = 1_024;

export class RunEventConsumer implements Stoppable {
  private subscription: { unsubscribe(): void } | null = null;

  constructor(
    private readonly bus: Pick<Bus, 'consumeEvents'>,
    private readonly intake: RunEventIntake,
  ) {}

  start(): void {
    this.subscription = this.bus.consumeEvents({
      durable: DURABLE,
      maxInFlight: EVENTS_IN_FLIGHT_MAX,
      onBatch: (messages) => this.intake.take(messages),
      ready: () => this.intake.ready(),
    });
  }

  async stop(): Promise<void> {
    this.subscription?.unsubscribe();
    await this.intake.stop();
  }
}
