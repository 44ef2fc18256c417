// The tickets of steps that were sent before they could begin: the worker takes back steps by taking their tickets, which
// both read from one file at one position.
import { readSync } from 'node:fs';

const DESCRIPTOR = 5;

export class Tickets {
  #bytes = Buffer.alloc(4);
  /** Of a step that is still to come; those before it were taken back. */
  #held = null;

  /** True for the one who may run step `n`. */
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
