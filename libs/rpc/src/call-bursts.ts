// How many calls of one connection begin in a turn of the event loop. A client may have so many open at a time, but when
// it resets each at once it has none open: a packet of 64 KiB holds 2,000 calls that are begun and reset.
import type { Http2Session } from 'node:http2';

export class CallBursts {
  private begun: Map<Http2Session, number> | null = null;

  constructor(private readonly callsMax: number) {}

  /** Beyond the bound the connection is cut, and what it has sent is read no further. */
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
