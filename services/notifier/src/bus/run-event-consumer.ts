// Consumes the runs' lifecycle events, which all notifiers share.
import type { Stoppable } from '@methods/base/stoppable';
import { Bus } from '@methods/bus/connection';
import { inject, injectable } from 'tsyringe';
import { RunEventIntake } from './run-event-intake.ts';

/** Name of the shared consumer. A new name creates a consumer that reads all stored events again. */
const DURABLE = 'notifier';
/** For all notifiers together; bounds the events that wait in memory. */
const EVENTS_IN_FLIGHT_MAX = 1_024;

@injectable()
export class RunEventConsumer implements Stoppable {
  private subscription: { unsubscribe(): void } | null = null;

  constructor(
    @inject(Bus) private readonly bus: Pick<Bus, 'consumeEvents'>,
    @inject(RunEventIntake) private readonly intake: RunEventIntake,
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
