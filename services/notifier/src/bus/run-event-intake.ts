// Takes run events off the bus: stores what a webhook listens to, confirms to the scheduler, then to the bus.
// The order is the promise: nothing is confirmed before it is durable, and a crash in between means it comes again.
import { newId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import type { EventMessage } from '@methods/bus/event-consumer';
import { runEventStored } from '@methods/bus/subjects';
import type { Logger } from '@methods/logging/logger';
import { StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import { encoder } from '@methods/rpc/message-codec';
import { chooseAnswerer } from '../delivery/choose-answerer.ts';
import type { PlannedDelivery } from '../delivery/delivery.ts';
import { planDelivery } from '../delivery/plan-delivery.ts';
import { decodeRunEvent } from './decode-run-event.ts';

/** What the bus hands over. */
export type IncomingEvent = Pick<EventMessage, 'data' | 'ack' | 'nak'>;

export interface RunEventIntakeOptions {
  /** One statement; durable when it resolves. Known deliveries are ignored. */
  readonly store: (planned: readonly PlannedDelivery[]) => Promise<unknown>;
  /** Core publish, false when NATS is away; then the scheduler sends the events again. */
  readonly publish: (subject: string, bytes: Uint8Array) => boolean;
  /** Something was stored that may be due. */
  readonly onStored: () => void;
  readonly logger: Logger;
}

/** Events in one statement and one confirmation: well below the largest message the bus takes. */
const BATCH_MAX = 256;
/** Events whose storing failed; the scheduler would send them again after 5 s. */
const COMES_AGAIN_MS = 2_000;

export class RunEventIntake implements Stoppable {
  private waiting: IncomingEvent[] = [];
  private storing: Promise<void> | null = null;
  private readonly encode = encoder(StoredEventsSchema);

  constructor(private readonly options: RunEventIntakeOptions) {}

  /** Returns at once. What comes while a statement is under way gathers for the next, in the order it came. */
  take(messages: readonly IncomingEvent[]): void {
    this.waiting.push(...messages);
    if (!this.storing) void this.storeAll();
  }

  /** Resolves when nothing is under way; whatever still waits comes again, to another node. */
  async stop(): Promise<void> {
    this.waiting = [];
    await this.storing;
  }

  private async storeAll(): Promise<void> {
    let done = () => {};
    this.storing = new Promise((resolve) => {
      done = resolve;
    });
    // One statement at a time: two at once could make a run's later event durable, and sent, before the earlier.
    while (this.waiting.length > 0) await this.storeBatch(this.waiting.splice(0, BATCH_MAX));
    this.storing = null;
    done();
  }

  private async storeBatch(messages: readonly IncomingEvent[]): Promise<void> {
    const outboxIds: string[] = [];
    const planned: PlannedDelivery[] = [];
    for (const message of messages) {
      const decoded = decodeRunEvent(message.data);
      if (decoded.outboxId !== '') outboxIds.push(decoded.outboxId);
      // A malformed event will not become better: it is confirmed and told, or it would come again for ever.
      if (!decoded.ok) this.tellRefused(decoded.outboxId, decoded.fault);
      else if (chooseAnswerer(decoded.event).application) planned.push(planDelivery(decoded.event, newId('dlv')));
    }
    try {
      await this.options.store(planned);
    } catch (error) {
      this.options.logger.warn({ error, events: messages.length }, 'run events could not be stored; they come again');
      for (const message of messages) message.nak(COMES_AGAIN_MS);
      return;
    }
    this.confirm(outboxIds);
    for (const message of messages) message.ack();
    if (planned.length > 0) this.options.onStored();
  }

  private tellRefused(outboxId: string, fault: string): void {
    this.options.logger.error({ outbox_id: outboxId, fault }, 'run event refused');
  }

  private confirm(outboxIds: readonly string[]): void {
    if (outboxIds.length > 0) this.options.publish(runEventStored, this.encode({ outboxIds: [...outboxIds] }));
  }
}
