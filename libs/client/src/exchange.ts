// One attempt of a request: from the first byte sent to the last byte received.
import { Deadline, onAbort } from './deadline.ts';
import { ConnectionError, type MethodsError, TimeoutError, unexpectedReply } from './errors.ts';

/** Several times that of a run with all its steps. A server that sends more is another program. */
const TEXT_BYTES_MAX = 64 * 1024 * 1024;

/** A slower connection is too slow for a file. */
const SENT_BYTES_PER_MS = 64;

/** What is sent as it is. */
export type Bytes = Uint8Array | Blob | AsyncIterable<Uint8Array>;

export function isStream(content: unknown): content is AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in Object(content);
}

export interface Outgoing {
  readonly verb: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: string | Bytes | undefined;
  readonly signal: AbortSignal | undefined;
  /** Of the head of the reply, and of all of it if `text` reads it. Sending bytes or a stream takes time of its own. */
  readonly timeoutMs: number;
}

/** A reply whose head has arrived. It is read once, or ended. */
export class Exchange {
  private constructor(
    readonly response: Response,
    private readonly deadline: Deadline,
    private readonly outgoing: Outgoing,
  ) {}

  /** @throws ConnectionError; the reason of the caller's signal */
  static async begin(outgoing: Outgoing, send: typeof fetch): Promise<Exchange> {
    const { verb, url, headers, content, signal, timeoutMs } = outgoing;
    const deadline = new Deadline(timeoutMs + sizeOf(content) / SENT_BYTES_PER_MS, signal);
    try {
      const init: RequestInit = { method: verb, headers, redirect: 'error', signal: deadline.signal };
      // A stream is sent before the reply is read.
      const sent = (bytes: number) => deadline.restart(timeoutMs + bytes / SENT_BYTES_PER_MS);
      if (isStream(content)) Object.assign(init, { body: noted(content, sent), duplex: 'half' });
      else if (content !== undefined) Object.assign(init, { body: content });
      return new Exchange(await send(url, init), deadline, outgoing);
    } catch (cause) {
      deadline.end();
      throw faultOf(outgoing, deadline, cause);
    }
  }

  /** @throws as `begin`; UnexpectedReplyError */
  async text(): Promise<string> {
    const chunks: Uint8Array[] = [];
    const { status, headers } = this.response;
    let bytes = 0;
    for await (const chunk of this.read(() => {})) {
      bytes += chunk.length;
      if (bytes > TEXT_BYTES_MAX) throw unexpectedReply(status, headers.get('x-request-id') ?? undefined);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  /** `silenceMs`: the longest time between two of them. @throws as `begin` */
  chunks(silenceMs: number): AsyncGenerator<Uint8Array> {
    this.deadline.restart(silenceMs);
    return this.read(() => this.deadline.refresh());
  }

  private async *read(arrived: () => void): AsyncGenerator<Uint8Array> {
    const { deadline, outgoing, response } = this;
    const reader = response.body?.getReader();
    const cancel = () => void reader?.cancel().catch(() => {});
    // `fetch` forgets its signal when the memory is cleaned up after the head (https://github.com/nodejs/undici/issues/3644).
    const stop = onAbort(deadline.signal, cancel);
    try {
      for (;;) {
        const { value } = (await reader?.read()) ?? {};
        deadline.signal.throwIfAborted();
        if (value === undefined) return;
        arrived();
        yield value;
      }
    } catch (cause) {
      throw faultOf(outgoing, deadline, cause);
    } finally {
      stop();
      deadline.end();
      // Ends the connection of a reader that leaves early.
      cancel();
    }
  }
}

/** Of what is sent without a sign of how far it is. */
function sizeOf(content: Outgoing['content']): number {
  if (content instanceof Uint8Array) return content.byteLength;
  return content instanceof Blob ? content.size : 0;
}

/** `sent`: gets the bytes so far, of which megabytes may not have left this machine. */
async function* noted(parts: AsyncIterable<Uint8Array>, sent: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    sent(bytes);
    yield part;
  }
}

function faultOf({ url, signal }: Outgoing, deadline: Deadline, cause: unknown): MethodsError {
  signal?.throwIfAborted();
  const { origin } = new URL(url);
  if (deadline.isOver) return new TimeoutError('timeout', `${origin} did not reply in time.`, { cause });
  const refused = certificateFault(cause);
  const message =
    refused === null
      ? `${origin} cannot be reached, or ended the connection.`
      : `The certificate of ${origin} is refused: ${refused}.`;
  return new ConnectionError('unreachable', message, { cause });
}

/** Such as `certificate has expired`. Null: the fault is another one. `fetch` wraps the error of the connection. */
function certificateFault(error: unknown): string | null {
  const { code, message } = Object(Object(error).cause) as NodeJS.ErrnoException;
  return typeof code === 'string' && CERTIFICATE.test(code) ? message.replace(/\.$/, '') : null;
}

/** Codes of Node: those of OpenSSL's checks, and its own of the name. */
const CERTIFICATE = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/;
