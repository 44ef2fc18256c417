// A form with one field of every kind.
import type { JsonSchema, JsonValue } from '@methods/method/json';
import { type Field, readForm } from './field.ts';

export const EVERY_KIND: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['decision', 'sure', 'note', 'count', 'due', 'tags', 'teams', 'lines', 'address', 'extra'],
  properties: {
    decision: { enum: ['approve', 'reject'], title: 'Decision', description: 'Of the refund.' },
    sure: { type: 'boolean' },
    note: { type: 'string', minLength: 1, 'x-widget': 'textarea' },
    count: { type: 'integer', minimum: 1, maximum: 10 },
    due: { type: 'string', format: 'date-time' },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
    teams: { type: 'array', items: { $ref: '#/$defs/Team' } },
    lines: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['item'],
        properties: { item: { type: 'string' }, amount: { type: 'number', default: 1 } },
      },
    },
    address: {
      type: 'object',
      additionalProperties: false,
      required: ['city'],
      properties: { city: { type: 'string' }, 'zip/code': { type: 'string' } },
    },
    extra: { type: 'object' },
    channel: { type: ['string', 'null'], default: 'mail' },
    rate: { type: 'number', exclusiveMinimum: 0 },
  },
  $defs: { Team: { enum: ['sales', 'support'] } },
};

/** The only field of a form that declares it so. */
export function fieldOf(schema: JsonSchema, required = true): Field {
  const properties: Record<string, JsonValue> = { it: schema };
  const [field] = readForm({
    type: 'object',
    properties,
    required: required ? ['it'] : [],
    $defs: { Team: { enum: ['sales', 'support'] }, Tree: TREE },
  }).fields;
  if (field === undefined) throw new Error('no field');
  return field;
}

const TREE: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['children'],
  properties: { children: { type: 'array', items: { $ref: '#/$defs/Tree' } } },
};
