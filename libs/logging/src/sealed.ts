// Content in flight (inputs, answers, results) where it might be printed: it has no printable form.
import { inspect } from 'node:util';

const PRINTED = '[content]';

export class Sealed<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return PRINTED;
  }

  toJSON(): string {
    return PRINTED;
  }

  [inspect.custom](): string {
    return PRINTED;
  }
}
