// Finds the texts in an out whose fields are of the type `secret`.
import { isJsonList, isJsonObject, type JsonSchema, type JsonValue, ownField } from '@methods/method/json';

/** With their places, such as `token` or `keys.0.value`. */
export function* secretFields(schema: JsonSchema, value: JsonValue): Generator<readonly [place: string, text: string]> {
  yield* within(schema, value, '', ownField(schema, '$defs'));
}

function* within(
  schema: JsonValue | undefined,
  value: JsonValue,
  place: string,
  types: JsonValue | undefined,
): Generator<readonly [place: string, text: string]> {
  if (!isJsonObject(schema)) return;
  const { $ref, anyOf, items, properties, additionalProperties } = schema;
  if (typeof $ref === 'string' && isJsonObject(types)) {
    // Types are shared, without recursion.
    yield* within(ownField(types, $ref.replace('#/$defs/', '')), value, place, types);
  }
  if (isJsonList(anyOf)) for (const member of anyOf) yield* within(member, value, place, types);
  if (typeof value === 'string') {
    if (schema['x-secret'] === true) yield [place, value];
  } else if (isJsonList(value)) {
    for (const [i, item] of value.entries()) yield* within(items, item, below(place, String(i)), types);
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const own = isJsonObject(properties) ? ownField(properties, name) : undefined;
      yield* within(own ?? additionalProperties, member, below(place, name), types);
    }
  }
}

function below(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}
