// Owns what checks of a raw schema may cost at worst, computed before there is a value: how many of its parts look at
// one place of a value, and how large it is with its references written out.

import { isJsonList, isJsonObject, type JsonObject, type JsonSchema, type JsonValue, ownField } from '../json.ts';
import { utf8Bytes } from '../utf8-bytes.ts';

// A value of 256 KiB has up to 100,000 places; a check of as many parts each is far beyond what one may take.
const PARTS_AT_ONE_PLACE_MAX = 500;
const BYTES_MAX = 256 * 1024;

/** Why checks of a schema whose references are written out cost too much, or undefined. */
export function costProblem(schema: JsonSchema): string | undefined {
  if (isLargerThan(schema, BYTES_MAX)) {
    return `a schema has at most ${BYTES_MAX / 1024} KiB, references written out`;
  }
  if (partsAtOnePlace([schema]) > PARTS_AT_ONE_PLACE_MAX) {
    return `at most ${PARTS_AT_ONE_PLACE_MAX} parts of a schema may look at one value`;
  }
  return undefined;
}

const HERE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const HERE = ['not', 'if', 'then', 'else'];
const ITEM_LISTS = ['prefixItems'];
const ITEMS = ['items', 'contains', 'unevaluatedItems'];
const OTHER_FIELDS = ['additionalProperties', 'unevaluatedProperties', 'propertyNames'];

/** The most parts that look at one place of a value which all of `schemas` look at. */
function partsAtOnePlace(schemas: readonly JsonValue[]): number {
  const here = schemas.flatMap(partsHere);
  if (here.length === 0) return 0;
  const items = here.flatMap((part) => [...listed(part, ITEM_LISTS), ...given(part, ITEMS)]);
  const others = here.flatMap((part) => [...mapped(part, 'patternProperties'), ...given(part, OTHER_FIELDS)]);
  const fields = new Map<string, JsonValue[]>();
  for (const part of here) {
    const properties = ownField(part, 'properties');
    if (!isJsonObject(properties)) continue;
    for (const [name, property] of Object.entries(properties)) {
      const known = fields.get(name);
      if (known === undefined) fields.set(name, [property]);
      else known.push(property);
    }
  }
  let most = Math.max(here.length, partsAtOnePlace(items));
  const ofOthers = partsAtOnePlace(others);
  most = Math.max(most, ofOthers);
  for (const same of fields.values()) most = Math.max(most, partsAtOnePlace(same) + ofOthers);
  return most;
}

/** The schema and all that look at the same value. */
function partsHere(schema: JsonValue): JsonObject[] {
  if (!isJsonObject(schema)) return [];
  const inner = [...listed(schema, HERE_LISTS), ...given(schema, HERE), ...mapped(schema, 'dependentSchemas')];
  return [schema, ...inner.flatMap(partsHere)];
}

function listed(schema: JsonObject, keywords: readonly string[]): JsonValue[] {
  return keywords.flatMap((keyword) => {
    const list = ownField(schema, keyword);
    return isJsonList(list) ? list : [];
  });
}

function given(schema: JsonObject, keywords: readonly string[]): JsonValue[] {
  return keywords.flatMap((keyword) => ownField(schema, keyword) ?? []);
}

function mapped(schema: JsonObject, keyword: string): JsonValue[] {
  const map = ownField(schema, keyword);
  return isJsonObject(map) ? Object.values(map) : [];
}

/** About the bytes of its JSON, counted no further than the bound: parts used in many places count in each. */
function isLargerThan(value: JsonValue, bytesMax: number): boolean {
  let left = bytesMax;
  const count = (part: JsonValue): void => {
    left -= typeof part === 'string' ? utf8Bytes(part) + 3 : 5;
    if (left < 0 || typeof part !== 'object' || part === null) return;
    for (const [name, inner] of Object.entries(part)) {
      if (!isJsonList(part)) left -= name.length + 3;
      count(inner);
      if (left < 0) return;
    }
  };
  count(value);
  return left < 0;
}
