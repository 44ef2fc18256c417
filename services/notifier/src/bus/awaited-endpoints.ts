// Events whose organization's endpoints are unknown wait here for the registry's answer, so that a registry that is slow
// or unavailable delays the events of these organizations and no others.
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

/** A part of the events that the bus hands out before it waits for some of them, also for several notifiers. */
const HELD_MAX = 256;
const HELD_BYTES_MAX = 4 << 20;
/** A registry that is well has replied by then. */
const REPLIES_WITHIN_MS = 500;
/** Events without room, until then. */
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
      /** At once where they are known; rejects when the registry cannot be asked. */
      readonly endpoints: (orgId: OrgId) => Targets | Promise<Targets>;
      readonly onKnown: (events: readonly ReadyEvent[]) => void;
      readonly clock: Clock;
      readonly logger: Logger;
      readonly comesAgainMs: number;
    },
  ) {}

  /** Those whose endpoints are known, in their order. `onKnown` gets the others, or they come again. */
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

  /** Events that wait come again, to another node. */
  stop(): void {
    this.held.clear();
  }

  private hold(message: IncomingEvent, { askedMs, messages }: Held): void {
    const { length } = message.data;
    if (this.count >= HELD_MAX || this.bytes + length > HELD_BYTES_MAX) {
      // Not confirmed, so the scheduler sends it again. The bus counts an event that it is to bring again as handed out:
      // a silent registry would use up that number.
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
