// A core subscription that lives as long as its owner wants: it is renewed on every connection and delivers its
// messages in batches of one turn of the event loop.
import { TurnBatch } from '@methods/base/turn-batch';
import type { NatsConnection, Subscription as NatsSubscription } from 'nats';
import { briefError } from './bus-error.ts';
import type { Link } from './link.ts';

export interface BusMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** The subject for an answer, or for a stored message's acknowledgement. */
  readonly reply?: string;
  /** Returns the value of a header, empty when it is missing. */
  readonly header?: (name: string) => string;
}

export interface Subscription {
  unsubscribe(): void;
}

export interface SubscribeOptions {
  /** Each message goes to one subscriber of the same queue. */
  readonly queue?: string;
}

export function subscribe(
  link: Link,
  subject: string,
  onMessages: (messages: readonly BusMessage[]) => void,
  options: SubscribeOptions = {},
): Subscription {
  let current: NatsSubscription | null = null;
  let open = true;
  const batch = new TurnBatch<BusMessage>((messages) => {
    if (!open) return;
    try {
      onMessages(messages);
    } catch (error) {
      link.logger.error({ subject, reason: briefError(error) }, 'a subscriber of the bus failed');
    }
  });
  const subscribeOn = (connection: NatsConnection) => {
    current = connection.subscribe(subject, {
      ...(options.queue !== undefined && { queue: options.queue }),
      callback: (error, message) => {
        if (error) return;
        const headers = message.headers;
        batch.add({
          subject: message.subject,
          data: message.data,
          ...(message.reply && { reply: message.reply }),
          ...(headers && { header: (name: string) => headers.get(name) }),
        });
      },
    });
  };
  const stopListening = link.onUp(subscribeOn);
  return {
    unsubscribe() {
      open = false;
      stopListening();
      if (current && !current.isClosed()) current.unsubscribe();
    },
  };
}
