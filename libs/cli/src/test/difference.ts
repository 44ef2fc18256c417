// Where a value is not what a test expects, in words. Objects may have more fields than expected; lists may not have
// more items.
import { isJsonList, isJsonObject, type JsonValue } from '@methods/method/json';

const SHOWN_MAX = 200;
const DIFFERENCES_MAX = 20;

/** One line a difference, such as `result.total: expected 80, got 79`; empty when the value fits. */
export function differences(expected: JsonValue, actual: JsonValue | undefined, path: string): string[] {
  return [...walk(expected, actual, path)].slice(0, DIFFERENCES_MAX);
}

function* walk(expected: JsonValue, actual: JsonValue | undefined, path: string): Generator<string> {
  if (isJsonObject(expected) && isJsonObject(actual)) {
    for (const [name, value] of Object.entries(expected)) {
      yield* walk(value, Object.hasOwn(actual, name) ? actual[name] : undefined, `${path}.${name}`);
    }
  } else if (isJsonList(expected) && isJsonList(actual)) {
    if (expected.length !== actual.length) {
      yield `${path}: expected ${expected.length} items, got ${actual.length}: ${shown(actual)}`;
    } else {
      for (const [index, item] of expected.entries()) yield* walk(item, actual[index], `${path}[${index}]`);
    }
  } else if (expected !== (actual ?? null)) {
    yield `${path}: expected ${shown(expected)}, got ${actual === undefined ? 'nothing' : shown(actual)}`;
  }
}

/** A value on one line. */
export function shown(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
