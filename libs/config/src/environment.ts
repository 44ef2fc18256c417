// Reads a process's environment once, against a schema, and reports every fault at once: an operator should not need
// five starts to find five typing errors.

import { inspect } from 'node:util';
import { type Static, type TObject, type TUnsafe, Type } from 'typebox';
import { Errors } from 'typebox/schema';

// A configured value that must not be printed: its text is always stars.
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
const SECRET_KEYWORD = 'secret';

/** A field of an environment's schema that arrives as a Secret. */
export function SecretText(
  options: { minLength?: number; maxLength?: number; pattern?: string } = {},
): TUnsafe<Secret> {
  return Type.Unsafe<Secret>({ type: 'string', [SECRET_KEYWORD]: true, ...options });
}

/** Every fault of an environment, one line each. Names variables and rules, never values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly faults: readonly string[]) {
    super(`The environment has ${faults.length} fault(s):\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  }
}

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

type Source = Readonly<Record<string, string | undefined>>;

/**
 * The values of `schema`'s fields, coerced from text, with defaults filled in, frozen. An empty variable counts as
 * absent; a boolean reads true, false, 1 or 0. Fields made with `SecretText` arrive as `Secret`.
 * @throws ConfigError with all faults.
 */
export function readEnvironment<Schema extends TObject>(
  schema: Schema,
  source: Source = process.env,
): Readonly<Static<Schema>> {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, field] of Object.entries<Field>(schema.properties)) {
    const text = source[name] || undefined;
    const value = text === undefined ? field.default : coerced(field, text);
    if (value === undefined) {
      if (schema.required?.includes(name)) faults.push(`${name}: is not set`);
      continue;
    }
    faults.push(...faultsOf(name, field, value));
    values[name] = isSecret(field) && typeof value === 'string' ? new Secret(value) : value;
  }
  if (faults.length > 0) throw new ConfigError([...new Set(faults)].sort());
  return Object.freeze(values) as Readonly<Static<Schema>>;
}

interface Field {
  readonly type?: string;
  readonly default?: unknown;
}

/** The text itself if it is not of the type; the check then refuses it. */
function coerced({ type }: Field, text: string): unknown {
  if (type === 'boolean') return BOOLEANS.get(text) ?? text;
  if (type !== 'integer' || text.trim() === '') return text;
  return Number.isInteger(Number(text)) ? Number(text) : text;
}

function faultsOf(name: string, field: Field, value: unknown): string[] {
  const [, errors] = Errors(field, value);
  return errors.map(({ message, params }) => {
    const allowed = 'allowedValues' in params ? ` (${params.allowedValues.join(', ')})` : '';
    return `${name}: ${message}${allowed}`;
  });
}

function isSecret(field: Field): boolean {
  return SECRET_KEYWORD in field;
}
