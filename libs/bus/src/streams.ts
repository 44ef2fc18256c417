// Declares and creates the streams and the bucket: every process creates them, on each connection and whenever one is
// found missing, since a server may lose all its data while its clients stay connected.
import {
  DiscardPolicy,
  type JetStreamManager,
  type NatsConnection,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from 'nats';
import { jetStreamErrorCode } from './bus-error.ts';
import { runEvents } from './subjects.ts';

export const RUN_COMMANDS = 'RUN_COMMANDS';
export const RUN_HEARTBEATS = 'RUN_HEARTBEATS';
export const RUN_EVENTS = 'RUN_EVENTS';
export const NODES_BUCKET = 'nodes';
const NODE_BEAT_TTL_MS = 5000;

const DAY_MS = 86_400_000;
const NAMES_PAGES_MAX = 64;

type Declaration = Pick<StreamConfig, 'name' | 'subjects' | 'retention' | 'storage' | 'max_age' | 'max_bytes'>;

// Bounded by age and bytes, never by a count: after kill -9 a work queue of nats-server 2.9 still counts acknowledged
// messages. Old messages are dropped, so that a full stream never refuses new ones.
const STREAMS: readonly Declaration[] = [
  {
    name: RUN_COMMANDS,
    subjects: ['run.command.*'],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    max_age: nanos(60_000),
    max_bytes: 256 * 1024 * 1024,
  },
  {
    name: RUN_HEARTBEATS,
    subjects: ['run.heartbeat.*'],
    retention: RetentionPolicy.Limits,
    storage: StorageType.Memory,
    max_age: nanos(5000),
    max_bytes: 64 * 1024 * 1024,
  },
  {
    name: RUN_EVENTS,
    subjects: [runEvents],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    max_age: nanos(7 * DAY_MS),
    max_bytes: 1024 * 1024 * 1024,
  },
];

const ALREADY_THERE_OTHERWISE = 10058;

export interface EnsuredStreams {
  /** Streams that exist with another retention or other subjects than declared: left unchanged. */
  readonly different: string[];
}

/**
 * Creates missing streams; idempotent. A stream that an operator created with other limits or replicas is not changed.
 * Throws the client library's error when JetStream does not work now.
 */
export async function ensureStreams(connection: NatsConnection, replicas: number): Promise<EnsuredStreams> {
  const manager = await connection.jetstreamManager({ checkAPI: false, timeout: 5000 });
  const kept = await Promise.all(STREAMS.map((declared) => ensureStream(manager, declared, replicas)));
  await ensureNodesBucket(connection, manager, replicas);
  return { different: kept.filter((name) => name !== null) };
}

async function ensureStream(
  manager: JetStreamManager,
  declared: Declaration,
  replicas: number,
): Promise<string | null> {
  try {
    await manager.streams.add({ ...declared, discard: DiscardPolicy.Old, num_replicas: replicas });
    return null;
  } catch (error) {
    if (jetStreamErrorCode(error) !== ALREADY_THERE_OTHERWISE) throw error;
  }
  const { config } = await manager.streams.info(declared.name);
  const same = config.retention === declared.retention && config.subjects?.join() === declared.subjects.join();
  return same ? null : declared.name;
}

async function ensureNodesBucket(
  connection: NatsConnection,
  manager: JetStreamManager,
  replicas: number,
): Promise<void> {
  const options = { history: 1, ttl: NODE_BEAT_TTL_MS, storage: StorageType.Memory, replicas };
  try {
    await connection.jetstream({ timeout: 5000 }).views.kv(NODES_BUCKET, options);
  } catch (error) {
    // It exists with other settings, and is usable.
    if (jetStreamErrorCode(error) !== ALREADY_THERE_OTHERWISE) throw error;
    await manager.streams.info(`KV_${NODES_BUCKET}`);
  }
}

interface NamesPage {
  readonly total?: number;
  readonly consumers?: readonly string[] | null;
  readonly error?: { readonly code: number; readonly err_code: number; readonly description: string };
}

/**
 * Lists a stream's consumers: one short answer for all shards, while the library's own listing sends whole consumer
 * descriptions. Throws when the stream does not exist or JetStream does not answer.
 */
export async function consumerNames(connection: NatsConnection, stream: string): Promise<string[]> {
  const names: string[] = [];
  for (let page = 0; page < NAMES_PAGES_MAX; page++) {
    const request = new TextEncoder().encode(JSON.stringify({ offset: names.length }));
    const answer = await connection.request(`$JS.API.CONSUMER.NAMES.${stream}`, request, { timeout: 5000 });
    const { consumers, total = 0, error } = answer.json<NamesPage>();
    if (error) throw Object.assign(new Error(error.description), { api_error: error });
    names.push(...(consumers ?? []));
    if (!consumers?.length || names.length >= total) break;
  }
  return names;
}
