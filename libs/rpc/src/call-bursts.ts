// Bounds the calls of one connection that begin in a turn of the event loop. The bound on open calls does not help
// against a client that resets each call at once, since it has none open: a packet of 64 KiB holds 2,000 calls that are
// begun and reset.
import type { Http2Session } from 'node:http2';

export class CallBursts {
  private begun: Map<Http2Session, number> | null = null;

  constructor(private readonly callsMax: number) {}

  /** Beyond the bound the connection is closed, and the rest of its input is not read. */
  begins(session: Http2Session): void {
    if (this.begun === null) {
      this.begun = new Map();
      setImmediate(() => {
        this.begun = null;
      });
    }
    const calls = (this.begun.get(session) ?? 0) + 1;
    this.begun.set(session, calls);
    if (calls > this.callsMax) session.destroy();
  }
}
