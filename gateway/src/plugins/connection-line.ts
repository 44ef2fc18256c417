// Requests that a client sends on one connection without awaiting the replies are handled one after the other: a packet
// of a hundred requests is a line of a hundred, not a hundred places and shares taken at once. It also is what frees
// them: the reply of a request further back belongs to no socket yet, and is never closed when the client has gone. The
// line is in front of the framework, and when it is full the parser leaves the packet: one of 64 KiB holds 3,600
// requests, which would all be parsed, and aborted one by one, in a turn of the event loop.
import { IncomingMessage, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';

const WAITING_MAX = 100;

interface Line {
  busy: boolean;
  readonly waiting: (() => void)[];
}

const lines = new WeakMap<Socket, Line>();

/**
 * Node asks each request whether its connection is upgraded, and then reads no further. There is no other way to leave
 * a packet half read.
 */
export class RequestInLine extends IncomingMessage {
  private readonly isOneTooMany: boolean;
  private asks: unknown;

  constructor(socket: Socket) {
    super(socket);
    this.isOneTooMany = (lines.get(socket)?.waiting.length ?? 0) >= WAITING_MAX;
    if (this.isOneTooMany) socket.destroy();
  }

  get upgrade(): unknown {
    return this.isOneTooMany || this.asks;
  }

  set upgrade(asks: unknown) {
    this.asks = asks;
  }
}

export function inLine(handle: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? { busy: false, waiting: [] };
    lines.set(socket, line);
    const begin = () => {
      line.busy = true;
      response.once('close', () => {
        line.busy = false;
        // Requests after a reply that closes the connection are never begun: their replies could not be sent.
        if (socket.writable) line.waiting.shift()?.();
        else line.waiting.length = 0;
      });
      handle(request, response);
    };
    if (line.busy) line.waiting.push(begin);
    else begin();
  };
}
