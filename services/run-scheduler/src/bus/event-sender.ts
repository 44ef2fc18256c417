// Sends events to the bus, the events of one run one after the other. Events in flight are bounded; further ones wait
// in their rows.
import type { RunId } from '@methods/base/ids';
import type { Logger } from '@methods/logging/logger';
import type { OutboxEvent } from '../store/run-store.ts';
import type { HeldBackEvents } from './held-back-events.ts';
import { withoutContent } from './run-event.ts';

/** Events in flight at one time. */
const EVENTS_MAX = 10_000;
const BYTES_MAX = 16 << 20;
/** Events too large for the bus that are remembered, so that each is logged once. */
const TOO_LARGE_MAX = 1_000;

export interface EventPublisher {
  /** Resolves when the bus has stored the event. */
  publish(event: OutboxEvent): Promise<void>;
}

/** `too_large`: the bus as configured can never take it, even without its content; other events are not affected. */
type Sending = 'sent' | 'refused' | 'too_large';

export interface SentInOrder {
  readonly sent: number;
  /** The outcome of the first event that was not sent. */
  readonly by: Sending;
}

export class EventSender {
  /** Runs with events in flight: the first is being sent, the rest follow it. */
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

  /** Reports that no further event is accepted until some have arrived. */
  get isFull(): boolean {
    return this.events >= EVENTS_MAX || this.bytes >= BYTES_MAX;
  }

  /** Sends the event at once, or after the events of its run that are in flight. */
  send(event: OutboxEvent): void {
    const ahead = this.sending.get(event.runId);
    if (ahead === undefined) void this.inOrder([event]);
    else {
      ahead.push(event);
      this.count(event, 1);
    }
  }

  /** Sends events of one run one after the other. From the first failure on, they are left to the next sweep. */
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

  /** Logs each event once, since it may be sent repeatedly. */
  private logTooLarge({ runId, outboxId, body }: OutboxEvent, message: string): void {
    if (this.tooLarge.has(outboxId)) return;
    if (this.tooLarge.size >= TOO_LARGE_MAX) this.tooLarge.clear();
    this.tooLarge.add(outboxId);
    this.options.logger.error({ run: runId, bytes: body.length }, message);
  }
}
