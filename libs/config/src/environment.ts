// Reads a process's environment once, against a schema, and tells every fault at once: an operator should not have to
// start a process five times to find five typing errors.
import { envSchema } from 'env-schema';
import type { Static, TObject } from 'typebox';
import { SECRET_KEYWORD, Secret } from './secret.ts';

export { Secret, SecretText } from './secret.ts';

/** Every fault of an environment, one line each. Names variables and rules, never values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly faults: readonly string[]) {
    super(`The environment has ${faults.length} fault(s):\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  }
}

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
  const fields = Object.entries<object>(schema.properties);
  const data: Record<string, string> = {};
  for (const [name, field] of fields) {
    const text = source[name];
    if (text !== undefined && text !== '') data[name] = isBoolean(field) ? booleanText(text) : text;
  }
  const values = checked(schema, data);
  for (const [name, field] of fields) {
    const value = values[name];
    if (isSecret(field) && typeof value === 'string') values[name] = new Secret(value);
  }
  return Object.freeze(values) as Readonly<Static<Schema>>;
}

function checked(schema: TObject, data: Record<string, string>): Record<string, unknown> {
  try {
    // A plain copy: the checker writes into the schema it is given.
    return envSchema({
      schema: JSON.parse(JSON.stringify(schema)),
      data,
      env: false,
      ajv: { customOptions: (ajv) => ajv.addKeyword(SECRET_KEYWORD) },
    });
  } catch (error) {
    throw new ConfigError(faultsOf(error));
  }
}

interface Fault {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: Record<string, unknown>;
}

function faultsOf(error: unknown): string[] {
  if (!(error instanceof Error) || !('errors' in error) || !Array.isArray(error.errors)) throw error;
  const lines = (error.errors as Fault[]).map(({ instancePath, keyword, message, params }) => {
    if (keyword === 'required') return `${params.missingProperty}: is not set`;
    const allowed = Array.isArray(params.allowedValues) ? ` (${params.allowedValues.join(', ')})` : '';
    return `${instancePath.slice(1)}: ${message ?? 'is not valid'}${allowed}`;
  });
  return [...new Set(lines)].sort();
}

function isBoolean(field: object): boolean {
  return 'type' in field && field.type === 'boolean';
}

function isSecret(field: object): boolean {
  return SECRET_KEYWORD in field;
}

function booleanText(text: string): string {
  if (text === '1') return 'true';
  return text === '0' ? 'false' : text;
}
