// Sends events to the bus, those of one run one after the other. Events on their way are bounded; further ones wait in
// their rows.
import type { RunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { OutboxEvent } from '../store/run-store.ts';
import type { HeldBackEvents } from './held-back-events.ts';
import { withoutContent } from './run-event.ts';

/** On their way to the bus at one time. */
const EVENTS_MAX = 10_000;
const BYTES_MAX = 16 << 20;
/** Events beyond what the bus takes, each logged once. */
const TOO_LARGE_MAX = 1_000;

export interface EventPublisher {
  /** Resolves when the bus keeps the event. */
  publish(event: OutboxEvent): Promise<void>;
}

/** `too_large`: the bus as configured can never take it, even without its content; other events are not affected. */
type Sending = 'sent' | 'refused' | 'too_large';

export interface SentInOrder {
  readonly sent: number;
  /** The outcome of the first that was not sent. */
  readonly by: Sending;
}

export class EventSender {
  /** Runs with events on their way to the bus: the first is being sent, the rest follow it. */
  private readonly sending = new Map<string, OutboxEvent[]>();
  private events = 0;
  private bytes = 0;
  private readonly tooLarge = new Set<string>();

  constructor(
    private readonly options: {
      readonly publisher: EventPublisher;
      readonly heldBack: HeldBackEvents;
      readonly logger: Logger;
    },
  ) {}

  isSending(runId: RunId): boolean {
    return this.sending.has(runId);
  }

  /** No more is accepted until some of it has arrived. */
  get isFull(): boolean {
    return this.events >= EVENTS_MAX || this.bytes >= BYTES_MAX;
  }

  /** At once, or behind the events of its run that are on their way. */
  send(event: OutboxEvent): void {
    const ahead = this.sending.get(event.runId);
    if (ahead === undefined) void this.inOrder([event]);
    else {
      ahead.push(event);
      this.count(event, 1);
    }
  }

  /** Events of one run, one after the other; from the first that fails on, they are left to the next sweep. */
  async inOrder(events: OutboxEvent[]): Promise<SentInOrder> {
    let by: Sending = 'sent';
    let sent = 0;
    const [first] = events;
    if (first === undefined) return { sent, by };
    this.sending.set(first.runId, events);
    for (const event of events) this.count(event, 1);
    for (let event = events[0]; event !== undefined; event = events[sent]) {
      by = await this.publish(event);
      if (by !== 'sent') break;
      sent++;
      this.options.heldBack.sent(event);
    }
    this.sending.delete(first.runId);
    for (const event of events) this.count(event, -1);
    for (const event of events.slice(sent)) this.options.heldBack.hold(event);
    return { sent, by };
  }

  private count(event: OutboxEvent, by: 1 | -1): void {
    this.events += by;
    this.bytes += by * event.body.length;
  }

  private async publish(event: OutboxEvent): Promise<Sending> {
    const sending = await this.tryToPublish(event);
    if (sending !== 'too_large') return sending;
    const body = withoutContent(event.body);
    const brief = body === null ? 'too_large' : await this.tryToPublish({ ...event, body });
    if (brief === 'too_large') this.logTooLarge(event, 'event beyond what the bus takes');
    if (brief === 'sent') this.logTooLarge(event, 'event beyond what the bus takes went out without its content');
    return brief;
  }

  private async tryToPublish(event: OutboxEvent): Promise<Sending> {
    try {
      await this.options.publisher.publish(event);
      return 'sent';
    } catch (error) {
      return (error as { code?: unknown }).code === 'too_large' ? 'too_large' : 'refused';
    }
  }

  /** Once for each event: it may be sent again and again. */
  private logTooLarge({ runId, outboxId, body }: OutboxEvent, message: string): void {
    if (this.tooLarge.has(outboxId)) return;
    if (this.tooLarge.size >= TOO_LARGE_MAX) this.tooLarge.clear();
    this.tooLarge.add(outboxId);
    this.options.logger.error({ run: runId, bytes: body.length }, message);
  }
}
