// The live nodes: each node writes its beat into a bucket whose entries expire. It is only a hint: watchers are not
// notified of an expired entry, so they judge by missing beats on their own monotonic clock; and revisions restart on
// an empty server, so the deciding data is in the value.
import { headers, type NatsConnection } from 'nats';
import { BusError } from './bus-error.ts';
import { type Subscription, subscribe } from './core-subscription.ts';
import type { Link } from './link.ts';
import type { Publisher } from './publisher.ts';
import { NODES_BUCKET } from './streams.ts';

const NODE_ID = /^[A-Za-z0-9_-]{1,64}$/;
const PREFIX = `$KV.${NODES_BUCKET}.`;
const PUT_TIMEOUT_MS = 1000;
const LIST_TIMEOUT_MS = 2000;

export interface NodeBeat {
  readonly nodeId: string;
  /** Null when the node has left. */
  readonly data: Uint8Array | null;
}

export class NodesBucket {
  constructor(
    private readonly link: Link,
    private readonly publisher: Publisher,
  ) {}

  /** Rejects with BusError unless it is known to be stored. */
  put(nodeId: string, data: Uint8Array): Promise<void> {
    return this.publisher.publishDurable(subjectOf(nodeId), data, { timeoutMs: PUT_TIMEOUT_MS });
  }

  /** A clean stop: watchers are notified. */
  delete(nodeId: string): Promise<void> {
    const mark = headers();
    mark.set('KV-Operation', 'DEL');
    return this.publisher.publishDurable(subjectOf(nodeId), new Uint8Array(), {
      timeoutMs: PUT_TIMEOUT_MS,
      headers: mark,
    });
  }

  /** Returns the beats that have not expired. Rejects with BusError when the bucket cannot be read. */
  async list(): Promise<NodeBeat[]> {
    const connection = this.link.connection;
    if (!connection) throw new BusError('not_connected', 'NATS is not connected');
    try {
      return await listBeats(connection);
    } catch (error) {
      this.link.restore();
      throw new BusError('not_persisted', 'the bucket of nodes cannot be read', { cause: error });
    }
  }

  /** Reports every beat from now on, and after each connect the stored ones. */
  watch(onBeats: (beats: readonly NodeBeat[]) => void): Subscription {
    const subscription = subscribe(this.link, `${PREFIX}*`, (messages) => {
      onBeats(
        messages.map((message) => ({
          nodeId: message.subject.slice(PREFIX.length),
          data: message.header?.('KV-Operation') ? null : message.data,
        })),
      );
    });
    const stopListening = this.link.onReady((connection) => {
      // Beats arrive every second anyway, so a failure here only delays.
      void listBeats(connection).then(onBeats, () => {});
    });
    return {
      unsubscribe() {
        stopListening();
        subscription.unsubscribe();
      },
    };
  }
}

/**
 * Uses requests, each with an end. The client's own listing of keys is a consumer that waits for as many entries as
 * there were when it was created: one that expires in between never arrives, and the listing never ends.
 */
async function listBeats(connection: NatsConnection): Promise<NodeBeat[]> {
  const manager = await connection.jetstreamManager({ checkAPI: false, timeout: LIST_TIMEOUT_MS });
  const { state } = await manager.streams.info(`KV_${NODES_BUCKET}`, { subjects_filter: `${PREFIX}>` });
  const keys = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(PREFIX.length));
  const client = connection.jetstream({ timeout: LIST_TIMEOUT_MS });
  const bucket = await client.views.kv(NODES_BUCKET, { bindOnly: true });
  const entries = await Promise.all(keys.map((key) => bucket.get(key)));
  return entries
    .filter((entry) => entry !== null && entry.operation === 'PUT')
    .map((entry) => ({ nodeId: (entry as { key: string }).key, data: (entry as { value: Uint8Array }).value }));
}

function subjectOf(nodeId: string): string {
  if (!NODE_ID.test(nodeId)) throw new TypeError('not a node id');
  return PREFIX + nodeId;
}
