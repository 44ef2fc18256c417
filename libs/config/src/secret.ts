// A configured value that must not be printed: its text is always stars.
import { inspect } from 'node:util';
import { type TUnsafe, Type } from 'typebox';

const STARS = '***';

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The value itself; call it only where the value is used. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return STARS;
  }

  toJSON(): string {
    return STARS;
  }

  [inspect.custom](): string {
    return STARS;
  }
}

/** Marks a schema whose value `readEnvironment` wraps in a Secret. */
export const SECRET_KEYWORD = 'secret';

/** A field of an environment's schema that arrives as a Secret. */
export function SecretText(
  options: { minLength?: number; maxLength?: number; pattern?: string } = {},
): TUnsafe<Secret> {
  return Type.Unsafe<Secret>({ type: 'string', [SECRET_KEYWORD]: true, ...options });
}
