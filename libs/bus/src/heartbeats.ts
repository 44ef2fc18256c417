// Workers' heartbeats addressed to one node, with those of the last seconds after a reconnect.
import { AckPolicy, DeliverPolicy, type NatsConnection, nanos } from 'nats';
import { briefError } from './bus-error.ts';
import { type BusMessage, type Subscription, subscribe } from './core-subscription.ts';
import type { Link } from './link.ts';
import { RUN_HEARTBEATS } from './streams.ts';
import { runHeartbeat } from './subjects.ts';

const GONE_AFTER_MS = 30_000;
const LOOK_INTERVAL_MS = 5000;

/**
 * Each connection has its own consumer. Messages contain their age: an old one renews nothing, and a repeat is
 * harmless.
 */
export function watchHeartbeats(
  link: Link,
  node: string,
  onMessages: (messages: readonly BusMessage[]) => void,
): Subscription {
  const deliverTo = `node.heartbeats.${node}`;
  const filter = runHeartbeat(node);
  const name = `node-${node}`;
  let open = true;
  const ensure = async (connection: NatsConnection) => {
    const manager = await connection.jetstreamManager({ checkAPI: false, timeout: 5000 });
    await manager.consumers.add(RUN_HEARTBEATS, {
      name,
      filter_subject: filter,
      deliver_subject: deliverTo,
      deliver_policy: DeliverPolicy.All,
      ack_policy: AckPolicy.None,
      mem_storage: true,
      inactive_threshold: nanos(GONE_AFTER_MS),
    });
  };
  const isOver = (connection: NatsConnection) => !open || connection.isClosed() || connection.isDraining();
  const keep = async (connection: NatsConnection) => {
    if (isOver(connection)) return;
    try {
      await ensure(connection);
    } catch (error) {
      // A connection that ends gives up its requests, as timed out.
      if (isOver(connection)) return;
      link.logger.warn({ reason: briefError(error) }, 'heartbeats cannot be watched; retrying');
      link.restore();
    }
    // Creating it again has no effect while it exists.
    link.clock.after(LOOK_INTERVAL_MS, () => void keep(connection));
  };
  const kept = new WeakSet<NatsConnection>();
  const subscription = subscribe(link, deliverTo, onMessages);
  const stopListening = link.onReady((connection) => {
    if (kept.has(connection)) return void ensure(connection).catch(() => {});
    kept.add(connection);
    void keep(connection);
  });
  return {
    unsubscribe() {
      open = false;
      stopListening();
      subscription.unsubscribe();
    },
  };
}
