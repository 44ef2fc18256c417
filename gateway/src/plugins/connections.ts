// Bounds the connections of the server, in total and for each address, so that a client that only opens them blocks no
// others; handles the requests of one connection in a line; and closes idle ones at the end. The server's own timeouts
// for headers and bodies close silent connections.

import { IncomingMessage, type RequestListener } from 'node:http';
import { isIP, type Socket } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import { Shares } from '@methods/base/shares';
import type { FastifyInstance } from 'fastify';
import { countedAddress } from '../callers/surface.ts';

interface ConnectionLimits {
  readonly connectionsMax: number;
  /** 0: no limit. */
  readonly connectionsPerAddressMax: number;
  /** As in the configuration. A proxy carries the connections of many clients: they count only in the total. */
  readonly trustProxy: string | null;
}

export function addConnectionLimits(app: FastifyInstance, limits: ConnectionLimits): void {
  const { connectionsMax, connectionsPerAddressMax, trustProxy } = limits;
  const isProxy = proxyTest(trustProxy);
  const addresses = new Shares({
    placesMax: connectionsMax,
    ...(connectionsPerAddressMax === 0 ? {} : { perOrganizationMax: connectionsPerAddressMax }),
  });
  let open = 0;
  app.server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    const place = isProxy(address) ? null : addresses.take(countedAddress(address));
    if (open >= connectionsMax || place?.ok === false) {
      if (place?.ok) place.leave();
      socket.destroy();
      return;
    }
    open++;
    socket.once('close', () => {
      open--;
      if (place?.ok) place.leave();
    });
  });
}

/** A proxy in front of this server limits its own clients. */
function proxyTest(trustProxy: string | null): (address: string) => boolean {
  if (trustProxy === null) return () => false;
  const isTrusted = proxyAddress.compile(trustProxy.split(',').map((name) => name.trim()));
  return (address) => isIP(address) !== 0 && isTrusted(address, 0);
}

// Handles requests that a client sends on one connection without awaiting the replies one after the other: a packet of
// a hundred requests is a line of a hundred, and does not take a hundred places and shares at once. The line also
// releases them: the reply of a later request has no socket yet, and would never be closed when the client has gone.
// The line is in front of the framework, and when it is full the parser leaves the packet: one of 64 KiB holds 3,600
// requests, which would all be parsed, and aborted one by one, in a turn of the event loop.

const WAITING_MAX = 100;

interface Line {
  busy: boolean;
  readonly waiting: (() => void)[];
}

const lines = new WeakMap<Socket, Line>();

/**
 * Node asks of each request whether its connection is upgraded, and then reads no further. This is the only way to
 * leave a packet half read.
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
        // Requests after a reply that closes the connection are not begun: their replies could not be sent.
        if (socket.writable) line.waiting.shift()?.();
        else line.waiting.length = 0;
      });
      handle(request, response);
    };
    if (line.busy) line.waiting.push(begin);
    else begin();
  };
}

const LOOK_EVERY_MS = 20;

/**
 * Closing waits only for open requests. Node ends only the connections that are idle at the moment of closing: one that
 * carries a reply just then, or was opened ahead and never used, would stay for its full keep-alive.
 */
export function addDrain(app: FastifyInstance): void {
  let openRequests = 0;
  // Requests that wait for their turn on a connection are not open yet, and are never closed when the client goes.
  app.addHook('onRequest', (_request, reply, done) => {
    openRequests++;
    reply.raw.once('close', () => {
      openRequests--;
    });
    done();
  });
  let timer: NodeJS.Timeout | undefined;
  app.addHook('preClose', (done) => {
    timer = setInterval(() => {
      if (openRequests === 0) app.server.closeAllConnections();
    }, LOOK_EVERY_MS);
    done();
  });
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
}
