// The bus as its users see it: NATS carries wake-ups, commands, heartbeats and events, and may be unavailable or empty
// at any time without the loss of a run.
import type { Stoppable } from '@methods/base/stoppable';
import { type BusMessage, type SubscribeOptions, type Subscription, subscribe } from './core-subscription.ts';
import { consumeEvents, type EventConsumerOptions } from './event-consumer.ts';
import { watchHeartbeats } from './heartbeats.ts';
import { Link, type LinkOptions } from './link.ts';
import { NodesBucket } from './nodes-bucket.ts';
import { Publisher } from './publisher.ts';
import { CommandMailbox, type CommandMailboxOptions } from './shard-commands.ts';

export type BusOptions = LinkOptions;

export class Bus implements Stoppable {
  private readonly link: Link;
  private readonly publisher: Publisher;
  private readonly mailboxes = new Set<CommandMailbox>();
  /** Beats of the nodes. */
  readonly nodes: NodesBucket;

  constructor(options: BusOptions) {
    this.link = new Link(options);
    this.publisher = new Publisher(this.link);
    this.nodes = new NodesBucket(this.link, this.publisher);
  }

  /** Returns at once and never fails: while NATS is absent it keeps trying. */
  start(): void {
    this.link.start();
  }

  /** Sends the queued messages, for at most 2 s, and closes the connection. */
  async stop(): Promise<void> {
    for (const mailbox of this.mailboxes) mailbox.close();
    await this.link.stop();
  }

  get connected(): boolean {
    return this.link.connection !== null;
  }

  /**
   * Called at each connect and whenever a server was found empty, once streams exist; at once if they exist now.
   * Returns a function that ends it.
   */
  onConnected(listener: () => void): () => void {
    return this.link.onReady(() => listener());
  }

  /** Publishes on core NATS, without confirmation. Returns false when it was not sent: no connection, or too large. */
  publish(subject: string, data: Uint8Array): boolean {
    return this.publisher.publish(subject, data);
  }

  /**
   * Publishes on JetStream. Many at once share round trips: do not await one before the next. Rejects with BusError
   * when the message is not known to be stored. `timeoutMs` is 2000 by default.
   */
  publishDurable(subject: string, data: Uint8Array, options: { timeoutMs?: number } = {}): Promise<void> {
    return this.publisher.publishDurable(subject, data, options);
  }

  /**
   * Subscribes on core NATS, across reconnects. Each call gets the messages of one turn of the event loop, at most 256.
   */
  subscribe(
    subject: string,
    onMessages: (messages: readonly BusMessage[]) => void,
    options: SubscribeOptions = {},
  ): Subscription {
    return subscribe(this.link, subject, onMessages, options);
  }

  consumeShardCommands(options: CommandMailboxOptions): CommandMailbox {
    const mailbox = new CommandMailbox(this.link, options);
    this.mailboxes.add(mailbox);
    return mailbox;
  }

  consumeEvents(options: EventConsumerOptions): Subscription {
    return consumeEvents(this.link, options);
  }

  /** Heartbeats addressed to `node`. */
  watchHeartbeats(node: string, onMessages: (messages: readonly BusMessage[]) => void): Subscription {
    return watchHeartbeats(this.link, node, onMessages);
  }
}
