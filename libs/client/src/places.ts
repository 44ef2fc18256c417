// A bounded number of places that many callers take in turn: for requests, so that a thousand calls of a program use a
// handful of connections.
import { onAbort } from './deadline.ts';

export class Places {
  private free: number;
  /** In the order they came. */
  private readonly waiting = new Set<() => void>();

  constructor(count: number) {
    this.free = count;
  }

  /** Does the work in a place, as soon as there is one. */
  async in<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.tryTake()) await this.wait(signal);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  tryTake(): boolean {
    if (this.free === 0) return false;
    this.free--;
    return true;
  }

  leave(): void {
    const [next] = this.waiting;
    if (next === undefined) this.free++;
    else {
      this.waiting.delete(next);
      // The connection of the request that has just ended is free after this turn; before, another one would be made.
      setImmediate(next);
    }
  }

  private async wait(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const stop = onAbort(signal, (reason) => {
        this.waiting.delete(enter);
        reject(reason);
      });
      const enter = () => {
        stop();
        resolve();
      };
      this.waiting.add(enter);
    });
  }
}
