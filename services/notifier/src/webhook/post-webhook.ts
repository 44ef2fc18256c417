// Sends one HTTP POST to a checked target, on its own connection: no redirects, no proxy, no reuse, everything bounded.
import type { LookupFunction } from 'node:net';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { connectionFault, TryFailed } from './try-failed.ts';
import type { WebhookTarget } from './webhook-target.ts';

export interface WebhookAnswer {
  readonly httpStatus: number;
  /**
   * Returns up to ANSWER_BYTES_MAX bytes of the reply's body as text, never decompressed: the part received within
   * `waitMs`. It must be called, even with 0, since it ends the connection.
   */
  readStart(waitMs: number): Promise<string>;
}

const ANSWER_BYTES_MAX = 1024;
const ANSWER_HEADER_BYTES_MAX = 16 * 1024;
/** Read from a connection in total: interim answers have no bound of their own, and could keep this process busy. */
const READ_BYTES_MAX = 256 * 1024;

export interface PostOptions {
  /** Ends the try; the reason becomes the failure. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** PEM certificates trusted in place of the system's. */
  readonly trustedCertificates?: string | undefined;
}

/** Resolves with the answer's status. Rejects with TryFailed, or with the signal's reason. */
export async function postWebhook(
  target: WebhookTarget,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  options: PostOptions,
): Promise<WebhookAnswer> {
  const client = new Client(target.url.origin, {
    connect: boundedConnector({
      lookup: checkedLookup(target),
      autoSelectFamily: true,
      timeout: options.timeoutMs,
      rejectUnauthorized: true,
      maxCachedSessions: 0,
      allowH2: false,
      ...(options.trustedCertificates === undefined ? {} : { ca: options.trustedCertificates }),
    }),
    allowH2: false,
    maxHeaderSize: ANSWER_HEADER_BYTES_MAX,
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
  });
  options.signal.addEventListener('abort', () => void client.destroy(), { once: true });
  try {
    const response = await client.request({
      method: 'POST',
      path: `${target.url.pathname}${target.url.search}`,
      headers,
      body,
      reset: true,
      signal: options.signal,
    });
    return {
      httpStatus: response.statusCode,
      readStart: (waitMs) => readStart(response.body, waitMs).finally(() => void client.destroy()),
    };
  } catch (error) {
    void client.destroy();
    if (options.signal.aborted) throw options.signal.reason;
    throw connectionFault(error);
  }
}

/** Disconnects a receiver that sends more than any answer needs. */
function boundedConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) =>
    connect(target, (...connected) => {
      const [, socket] = connected;
      socket?.on('readable', () => {
        if (socket.bytesRead > READ_BYTES_MAX) socket.destroy(new TryFailed('bad_answer', 'too long'));
      });
      callback(...connected);
    });
}

/** Returns the checked addresses, even if the name resolves to others by now. Address literals need no look-up. */
function checkedLookup(target: WebhookTarget): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = target.addresses;
    if (options.all === true) callback(null, [...target.addresses]);
    else callback(null, first.address, first.family);
  };
}

/** Errors here do not change the status: the bytes before them are kept. */
async function readStart(body: Dispatcher.ResponseData['body'], waitMs: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  body.on('error', () => {});
  const timer = setTimeout(() => body.destroy(), waitMs);
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= ANSWER_BYTES_MAX) break;
    }
  } catch {
    // Aborted by the receiver or by the timer.
  } finally {
    clearTimeout(timer);
  }
  // Postgres text cannot hold NUL.
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX).toString('utf8').replaceAll('\u0000', '');
}
