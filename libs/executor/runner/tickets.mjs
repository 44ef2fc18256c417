// The tickets of steps that were sent before they could begin: the worker takes steps back by reading their tickets,
// since both read one file at one position.
import { readSync } from 'node:fs';

const DESCRIPTOR = 5;

export class Tickets {
  #bytes = Buffer.alloc(4);
  /** A ticket of a later step; those before it were taken back. */
  #held = null;

  /** Returns true to the only reader that may run step `n`. */
  take(n) {
    if (this.#held === null) {
      if (readSync(DESCRIPTOR, this.#bytes, 0, 4, null) !== 4) return false;
      this.#held = this.#bytes.readUInt32LE();
    }
    if (this.#held !== n) return false;
    this.#held = null;
    return true;
  }
}
