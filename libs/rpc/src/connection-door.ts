// The listening socket of a server: bounds its connections, in total and for each address, and how long one may stay
// without an admitted call. Clients without a credential must not block those with one.
import { createServer, type Socket } from 'node:net';
import { Shares } from '@methods/base/shares';

export interface DoorOptions {
  readonly connectionsMax: number;
  /** A connection without an admitted call is closed after this time. */
  readonly admitMs: number;
  /** Takes a connection over. */
  readonly accept: (socket: Socket) => void;
}

interface Guest {
  readonly socket: Socket;
  admitted: boolean;
}

export class ConnectionDoor {
  private readonly places: Shares;
  private readonly guests = new Map<string, Guest>();
  private admittedOpen = 0;
  private onLastLeft = () => {};
  private readonly server = createServer({ noDelay: true }, (socket) => this.enter(socket));

  constructor(private readonly options: DoorOptions) {
    this.places = new Shares({ placesMax: options.connectionsMax });
  }

  /** Connections that are open. */
  get open(): number {
    return this.places.used;
  }

  /** The port taken. @throws when the address cannot be taken. */
  async listen(address: string): Promise<number> {
    const colon = address.lastIndexOf(':');
    const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host, port: Number(address.slice(colon + 1)) }, () => {
        this.server.off('error', reject);
        // For example, no file descriptor is left for a connection: open connections are kept.
        this.server.on('error', () => {});
        resolve();
      });
    });
    const bound = this.server.address();
    return typeof bound === 'object' && bound !== null ? bound.port : 0;
  }

  /** New connections are refused; those open stay. Resolves when the last one with an admitted call has ended. */
  close(): Promise<void> {
    this.server.close();
    if (this.admittedOpen === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.onLastLeft = resolve;
    });
  }

  /** A call on this connection was admitted. */
  admitted(remoteAddress: string | undefined, remotePort: number | undefined): void {
    const guest = this.guests.get(`${remoteAddress}:${remotePort}`);
    if (guest === undefined || guest.admitted) return;
    guest.admitted = true;
    this.admittedOpen++;
  }

  private enter(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    const place = this.places.take(String(remoteAddress));
    if (!place.ok) {
      socket.destroy();
      return;
    }
    const name = `${remoteAddress}:${remotePort}`;
    const guest: Guest = { socket, admitted: false };
    this.guests.set(name, guest);
    const deadline = setTimeout(() => {
      if (!guest.admitted) socket.destroy();
    }, this.options.admitMs);
    deadline.unref();
    socket.once('close', () => {
      clearTimeout(deadline);
      place.leave();
      if (this.guests.get(name) === guest) this.guests.delete(name);
      if (guest.admitted && --this.admittedOpen === 0) this.onLastLeft();
    });
    this.options.accept(socket);
  }
}
