// HTTP for attackers: bytes written beforehand go out on a connection that is kept, and of the reply only what is needed
// is looked at. An attacker that is busy with itself attacks less.
import { connect, type Socket } from 'node:net';

const CLOSED: RawReply = { status: 'closed', text: '' };

export interface RawReply {
  readonly status: string;
  readonly text: string;
}

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body?: string;
  /** Further header lines. */
  readonly more?: string;
  readonly host?: string;
}

/** The bytes of a request that a caller may repeat. */
export function requestBytes({ method, path, key, body, more = '', host = 'attacked' }: RawRequest): Buffer {
  const length =
    body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n${more}${length}\r\n${body ?? ''}`,
  );
}

/** One connection; another one is made when it was closed. */
export class RawHttp {
  private readonly port: number;
  private socket: Socket | null = null;
  private received = '';
  private waiting: ((reply: RawReply) => void)[] = [];

  constructor(baseUrl: string) {
    this.port = Number(new URL(baseUrl).port);
  }

  /** Resolves with the reply, or when the connection is closed before it. */
  async ask(bytes: Buffer): Promise<RawReply> {
    return (await this.askAll(bytes, 1))[0] ?? CLOSED;
  }

  /** `bytes` contain this many requests. */
  askAll(bytes: Buffer, requests: number): Promise<RawReply[]> {
    const replies = Array.from(
      { length: requests },
      () => new Promise<RawReply>((resolve) => void this.waiting.push(resolve)),
    );
    this.open().write(bytes);
    return Promise.all(replies);
  }

  /** From now on nothing is read. */
  readNoMore(): void {
    this.socket?.pause();
  }

  /** Of a request whose reply is not awaited. */
  write(bytes: Buffer): void {
    this.open().write(bytes);
  }

  close(): void {
    this.socket?.destroy();
  }

  private open(): Socket {
    if (this.socket !== null) return this.socket;
    const socket = connect(this.port, '127.0.0.1').setNoDelay();
    this.socket = socket;
    this.received = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.read(text));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.socket = null;
      for (const resolve of this.waiting.splice(0)) resolve(CLOSED);
    });
    return socket;
  }

  private read(text: string): void {
    this.received += text;
    for (;;) {
      const headEnd = this.received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = this.received.slice(0, headEnd);
      const status = head.slice(9, 12);
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
      // The reply is a stream, which the attacker does not follow.
      const end = length === undefined ? this.received.length : headEnd + 4 + Number(length);
      if (this.received.length < end) return;
      const body = this.received.slice(headEnd + 4, end);
      this.received = this.received.slice(end);
      this.waiting.shift()?.({ status, text: body });
    }
  }
}
