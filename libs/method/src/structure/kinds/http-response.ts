// Owns what expressions see of an HTTP answer: `response` in `take`, and in the `ensure` of http steps.
import type { Root } from '../../expression/compile-expression.ts';
import { ANY, FILE, INTEGER, type ObjectType, STRING } from '../../types/type.ts';

const RESPONSE_TYPE: ObjectType = {
  kind: 'object',
  fields: new Map([
    ['status', { type: INTEGER, optional: false }],
    ['headers', { type: { kind: 'map', of: STRING, bounds: {} }, optional: false }],
    ['body', { type: ANY, optional: false }],
    ['file', { type: FILE, optional: false }],
  ]),
};

export const RESPONSE: ReadonlyMap<string, Root> = new Map([
  ['response', { type: RESPONSE_TYPE, read: (frame) => frame.scope.response ?? null }],
]);
