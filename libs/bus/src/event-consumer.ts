// Lifecycle events for the notifier: a durable pull consumer that its replicas share. It pulls so that a frozen replica
// gets no events.
import { TurnBatch } from '@methods/base/turn-batch';
import { AckPolicy, type ConsumerMessages, DeliverPolicy, type JsMsg, type NatsConnection, nanos } from 'nats';
import { briefError } from './bus-error.ts';
import type { Subscription } from './core-subscription.ts';
import type { Link } from './link.ts';
import { RUN_EVENTS } from './streams.ts';
import { runEvents } from './subjects.ts';

export interface EventMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** 1 at first. */
  readonly deliveries: number;
  ack(): void;
  /** Redelivers it after `delayMs`. */
  nak(delayMs: number): void;
}

export interface EventConsumerOptions {
  /** Name of the consumer, shared by all replicas. */
  readonly durable: string;
  /** `runEvents` by default. */
  readonly filter?: string;
  /** An event that is neither acknowledged nor refused within 30 s is redelivered, perhaps to another replica. */
  readonly onBatch: (messages: readonly EventMessage[]) => void;
  /** Resolves when there is room for more events; nothing is pulled before that. */
  readonly ready?: () => Promise<void>;
  /** Unacknowledged events at a time, for all replicas together. */
  readonly maxInFlight: number;
}

const ACK_WAIT_MS = 30_000;
const PULL_MS = 5000;
/** A message has up to a megabyte, so a pull returns at most 32 of them. */
const PULL_MESSAGES_MAX = 32;
const RETRY_MS = 500;

export function consumeEvents(link: Link, options: EventConsumerOptions): Subscription {
  let open = true;
  let pulling: { connection: NatsConnection; messages: ConsumerMessages | null } | null = null;
  const batch = new TurnBatch<EventMessage>((messages) => {
    if (!open) return;
    try {
      options.onBatch(messages);
    } catch (error) {
      link.logger.error({ durable: options.durable, reason: briefError(error) }, 'a consumer of events failed');
    }
  });

  const pullOnce = async (connection: NatsConnection) => {
    const client = connection.jetstream({ timeout: 5000 });
    const consumer = await client.consumers.get(RUN_EVENTS, options.durable);
    // Until the connection or the consumer is lost: then the fetch, or the check before it, fails.
    while (open && !connection.isClosed() && !connection.isDraining()) {
      await options.ready?.();
      if (!open) return;
      const messages = await consumer.fetch({
        max_messages: Math.min(PULL_MESSAGES_MAX, options.maxInFlight),
        expires: PULL_MS,
      });
      if (pulling?.connection === connection) pulling.messages = messages;
      let received = 0;
      for await (const message of messages) {
        received++;
        batch.add(asEvent(message));
      }
      // An empty pull looks like a lost consumer: the check distinguishes them.
      if (received === 0) await consumer.info();
    }
  };

  const run = async (connection: NatsConnection) => {
    if (pulling?.connection === connection) return;
    pulling = { connection, messages: null };
    while (open && !connection.isClosed() && !connection.isDraining()) {
      try {
        await ensureConsumer(connection, options);
        await pullOnce(connection);
      } catch (error) {
        if (!open || connection.isClosed() || connection.isDraining()) return;
        link.logger.warn({ durable: options.durable, reason: briefError(error) }, 'events cannot be read; retrying');
        link.restore();
        await new Promise<void>((resolve) => link.clock.after(RETRY_MS, resolve));
      }
    }
  };

  const stopListening = link.onReady((connection) => void run(connection));
  return {
    unsubscribe() {
      open = false;
      stopListening();
      void pulling?.messages?.close();
    },
  };
}

async function ensureConsumer(connection: NatsConnection, options: EventConsumerOptions): Promise<void> {
  const manager = await connection.jetstreamManager({ checkAPI: false, timeout: 5000 });
  await manager.consumers.add(RUN_EVENTS, {
    durable_name: options.durable,
    filter_subject: options.filter ?? runEvents,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT_MS),
    max_ack_pending: options.maxInFlight,
    max_deliver: -1,
  });
}

function asEvent(message: JsMsg): EventMessage {
  return {
    subject: message.subject,
    data: message.data,
    deliveries: message.info.redeliveryCount,
    ack: () => message.ack(),
    nak: (delayMs) => message.nak(delayMs),
  };
}
