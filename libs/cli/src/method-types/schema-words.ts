// What a schema says beside its type: its title, its description, and the bounds that a type cannot express.
import { isJsonObject, type JsonSchema, type JsonValue, ownField } from '@methods/method/json';

/** Keywords that do not change a value's type, shown in comments. */
const SHOWN = [
  'format',
  'default',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;

/** Lines for a comment, without line ends and control characters: in a comment of one line they would end it. */
export function wordsOf(schema: JsonValue | JsonSchema | undefined): string[] {
  if (!isJsonObject(schema)) return [];
  const words = [ownField(schema, 'title'), ownField(schema, 'description')].flatMap((text) =>
    typeof text === 'string' ? text.split('\n') : [],
  );
  const bounds = SHOWN.flatMap((keyword) => {
    const value = ownField(schema, keyword);
    return value === undefined ? [] : [`${keyword} ${typeof value === 'string' ? value : JSON.stringify(value)}`];
  });
  const secret = ownField(schema, 'x-secret') === true ? ['secret: masked wherever it is shown'] : [];
  return [...words, ...(bounds.length > 0 ? [bounds.join(', ')] : []), ...secret]
    .map((line) => line.replace(/[\p{Cc}\u2028\u2029]/gu, ' ').trim())
    .filter((line) => line !== '');
}
