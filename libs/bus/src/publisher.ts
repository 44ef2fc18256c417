// Publishes messages: without confirmation on core NATS, or confirmed by JetStream.
import { type MsgHdrs, type NatsConnection, NatsError } from 'nats';
import { BusError, briefError } from './bus-error.ts';
import type { Link } from './link.ts';

const DEFAULT_TIMEOUT_MS = 2000;
/** Publishes that wait for their confirmation: many are sent at once, so this bounds memory. */
const IN_FLIGHT_MAX = 8192;
const NO_RESPONDERS = '503';

export interface DurableOptions {
  readonly timeoutMs?: number;
  readonly headers?: MsgHdrs;
}

export class Publisher {
  private inFlight = 0;

  constructor(private readonly link: Link) {}

  /** False when there is no connection or the message is too large: it was not sent. */
  publish(subject: string, data: Uint8Array): boolean {
    const connection = this.link.connection;
    if (!connection || connection.isDraining() || data.length > maxBytes(connection)) return false;
    try {
      connection.publish(subject, data);
      return true;
    } catch {
      // Closed in between.
      return false;
    }
  }

  /** Resolves when a stream has stored the message; rejects with BusError when that is not known. */
  async publishDurable(subject: string, data: Uint8Array, options: DurableOptions = {}): Promise<void> {
    const connection = this.link.connection;
    if (!connection || connection.isDraining()) throw new BusError('not_connected', 'NATS is not connected');
    if (data.length > maxBytes(connection)) throw new BusError('too_large', `more than ${maxBytes(connection)} bytes`);
    if (this.inFlight >= IN_FLIGHT_MAX) {
      throw new BusError('too_many_in_flight', `${IN_FLIGHT_MAX} messages wait for their confirmation`);
    }
    this.inFlight++;
    try {
      const answer = await connection.request(subject, data, {
        timeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        ...(options.headers && { headers: options.headers }),
      });
      const confirmed = answer.json<{ stream?: string; error?: { code: number; err_code: number } }>();
      if (confirmed.stream) return;
      // For example, JetStream is not enabled yet while a server starts.
      throw new BusError(
        'not_persisted',
        `JetStream refused the message (${confirmed.error?.err_code ?? 'no reason'})`,
      );
    } catch (error) {
      // No stream has the subject, or the stream is gone: the server is empty.
      this.link.restore();
      if (error instanceof BusError) throw error;
      const reason = isNoResponders(error) ? 'no stream takes the subject' : briefError(error);
      throw new BusError('not_persisted', `JetStream did not confirm: ${reason}`, { cause: error });
    } finally {
      this.inFlight--;
    }
  }
}

function maxBytes(connection: NatsConnection): number {
  return connection.info?.max_payload ?? 1024 * 1024;
}

function isNoResponders(error: unknown): boolean {
  return error instanceof NatsError && error.code === NO_RESPONDERS;
}
