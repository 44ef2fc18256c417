// Holds events while the endpoints of their organization are unknown, until the registry replies, so that a slow or
// unavailable registry delays only the events of these organizations.
import type { Clock } from '@methods/base/clock';
import { isId, type OrgId } from '@methods/base/ids';
import type { EventMessage } from '@methods/bus/event-consumer';
import { orgOfEvent } from '@methods/bus/subjects';
import type { Logger } from '@methods/logging/logger';
import type { EndpointTarget } from '../delivery/endpoint-target.ts';

/** An event as the bus delivers it. */
export type IncomingEvent = Pick<EventMessage, 'subject' | 'data' | 'ack' | 'nak'>;
type Targets = readonly EndpointTarget[];

/** An event, and the endpoints of the organization that its subject names. */
export interface ReadyEvent {
  readonly message: IncomingEvent;
  /** Null: the subject names no organization. */
  readonly orgId: OrgId | null;
  readonly targets: Targets;
}

/** A part of the events that the bus delivers before it waits for acknowledgements, even with several notifiers. */
const HELD_MAX = 256;
const HELD_BYTES_MAX = 4 << 20;
/** A healthy registry has replied by then. */
const REPLIES_WITHIN_MS = 500;
/** The delay of events for which there is no room. */
const ROOM_COMES_MS = 250;

interface Held {
  readonly askedMs: number;
  readonly messages: IncomingEvent[];
}

export class AwaitedEndpoints {
  private readonly held = new Map<OrgId, Held>();
  private count = 0;
  private bytes = 0;

  constructor(
    private readonly options: {
      /** Returns known endpoints at once; rejects when the registry is unavailable. */
      readonly endpoints: (orgId: OrgId) => Targets | Promise<Targets>;
      readonly onKnown: (events: readonly ReadyEvent[]) => void;
      readonly clock: Clock;
      readonly logger: Logger;
      readonly comesAgainMs: number;
    },
  ) {}

  /**
   * Returns the events whose endpoints are known, in order. The others go to `onKnown` later, or are delivered again.
   */
  take(messages: readonly IncomingEvent[]): ReadyEvent[] {
    return messages.flatMap((message): ReadyEvent[] => {
      const orgId = orgOfEvent(message.subject);
      if (orgId === null || !isId('org', orgId)) return [{ message, orgId: null, targets: [] }];
      const waiting = this.held.get(orgId);
      if (waiting !== undefined) {
        this.hold(message, waiting);
        return [];
      }
      const targets = this.options.endpoints(orgId);
      if (!('then' in targets)) return [{ message, orgId, targets }];
      const first: Held = { askedMs: this.options.clock.monotonicMs(), messages: [] };
      this.held.set(orgId, first);
      this.hold(message, first);
      void this.wait(orgId, targets);
      return [];
    });
  }

  /** Waiting events are delivered again, to another node. */
  stop(): void {
    this.held.clear();
  }

  private hold(message: IncomingEvent, { askedMs, messages }: Held): void {
    const { length } = message.data;
    if (this.count >= HELD_MAX || this.bytes + length > HELD_BYTES_MAX) {
      // Not confirmed, so the scheduler sends it again. The bus counts an event due for redelivery as in flight: a
      // silent registry would use up that number.
      if (this.options.clock.monotonicMs() - askedMs > REPLIES_WITHIN_MS) message.ack();
      else message.nak(ROOM_COMES_MS);
      return;
    }
    this.count++;
    this.bytes += length;
    messages.push(message);
  }

  private async wait(orgId: OrgId, asked: Promise<Targets>): Promise<void> {
    const targets = await asked.catch((error: unknown) => {
      this.options.logger.warn(
        { error, org_id: orgId },
        'endpoints are unknown; events of the organization come again',
      );
      return null;
    });
    const events = this.held.get(orgId)?.messages ?? [];
    this.held.delete(orgId);
    this.count -= events.length;
    for (const { data } of events) this.bytes -= data.length;
    if (targets === null) for (const message of events) message.nak(this.options.comesAgainMs);
    else this.options.onKnown(events.map((message) => ({ message, orgId, targets })));
  }
}
