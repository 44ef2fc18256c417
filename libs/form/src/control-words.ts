// Describes the controls of a form: what each expects, and whether it has several lines.
import type { Field, ListField } from './field.ts';
import { kindWords } from './field-words.ts';

/** Of a field whose control takes text; empty: its label says enough. */
export function hintOf(field: Field): string {
  if (field.kind === 'choice') return `One of ${field.choices.length} texts.`;
  const words = kindWords(field);
  if (words === 'text') return '';
  const zone = field.kind === 'text' && (field.format === 'date-time' || field.format === 'time') ? ', in UTC' : '';
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${zone}.`;
}

/** Of a list whose control takes a line for each item. */
export function listHint({ item }: ListField): string {
  return item.kind === 'text' && item.format === null
    ? 'One item a line.'
    : `One item a line: ${hintOf(item).toLowerCase()}`;
}

/** The number of items; `any`: without a bound. */
export function countWords({ minItems, maxItems }: ListField, any: string): string {
  if (maxItems === null) return minItems === 0 ? any : `at least ${minItems}`;
  return minItems === 0 ? `at most ${maxItems}` : `${minItems} to ${maxItems}`;
}

const LINE_CHARACTERS_MAX = 200;

/** Whether the control of a field has several lines; `text`: its content. */
export function isLong(field: Field, text: string): boolean {
  if (field.kind === 'json') return true;
  return text.includes('\n') || (field.kind === 'text' && (field.long || (field.maxLength ?? 0) > LINE_CHARACTERS_MAX));
}
