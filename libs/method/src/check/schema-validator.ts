// Owns the schema validator: Ajv for JSON Schema 2020-12 with bounded formats, linear patterns and linear uniqueness.
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { JsonSchema, JsonValue } from '../json.ts';
import { FORMAT_NAMES, hasFormat } from '../types/formats.ts';
import { compilePattern, type Pattern } from '../types/pattern.ts';
import { canonicalText } from './canonical-text.ts';

// Work of all patterns in one check: characters times program size. Some tenths of a second at the very worst.
const PATTERN_WORK_MAX = 5_000_000;

let patternWorkLeft = 0;

function boundedPattern(source: string): RegExp {
  const pattern: Pattern = compilePattern(source);
  const bounded = {
    test(text: string): boolean {
      patternWorkLeft -= text.length * pattern.size;
      return patternWorkLeft >= 0 && pattern.test(text);
    },
    // Ajv tells patterns apart by this; without it every pattern of a schema would be the first one.
    toString: () => `/${source}/`,
  };
  // Ajv calls these two alone; its type asks for a whole RegExp.
  return bounded as unknown as RegExp;
}

const regExp = Object.assign((source: string) => boundedPattern(source), { code: 'boundedPattern' });

export interface Validation {
  /** None when the value fits; not sorted. */
  readonly errors: readonly ErrorObject[];
  /** True when the texts were too long for the patterns, so that the errors say nothing. */
  readonly exhausted: boolean;
}

/** Compiles a schema. The function checks one value. */
export function compileSchema(schema: JsonSchema): (value: JsonValue) => Validation {
  // One instance a schema: Ajv keeps every schema it has compiled for as long as the instance lives.
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
    logger: false,
    ownProperties: true,
    validateSchema: false,
    addUsedSchema: false,
    inlineRefs: false,
    // Errors then carry the schema around them, which did-you-mean reads.
    verbose: true,
    code: { regExp },
  });
  for (const format of FORMAT_NAMES)
    ajv.addFormat(format, { type: 'string', validate: (text: string) => hasFormat(format, text) });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not hold the same item twice' },
    validate: (wanted: boolean, items: JsonValue[]) =>
      !wanted || new Set(items.map(canonicalText)).size === items.length,
  });
  const validate = ajv.compile(schema);
  return (value) => {
    patternWorkLeft = PATTERN_WORK_MAX;
    const errors = validate(value) ? [] : (validate.errors ?? []);
    return { errors, exhausted: patternWorkLeft < 0 };
  };
}
