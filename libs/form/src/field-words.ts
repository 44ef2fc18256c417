// Describes in words the values that a field accepts.
import { type Field, type NumberField, shownValue, type TextField } from './field.ts';

/** What the field takes, such as `approve or reject` or `a whole number from 1 to 10; optional`. */
export function fieldWords(field: Field): string {
  const words = kindWords(field);
  if (field.default !== undefined) return `${words}; ${JSON.stringify(field.default)} unless given`;
  return field.required ? words : `${words}; optional`;
}

/** The same without what an absent value means. */
export function kindWords(field: Field): string {
  switch (field.kind) {
    case 'choice':
      return field.choices.map(shownValue).join(' or ');
    case 'boolean':
      return 'yes or no';
    case 'number':
      return numberWords(field);
    case 'text':
      return textWords(field);
    case 'list':
      return field.item.kind === 'group' || field.item.kind === 'list'
        ? 'a list, an item as JSON a line'
        : 'a list, an item a line';
    case 'group':
    case 'json':
      return 'JSON';
  }
}

function numberWords({ integer, minimum, maximum, aboveMinimum, belowMaximum }: NumberField): string {
  const kind = integer ? 'a whole number' : 'a number';
  if (minimum !== null && maximum !== null && !aboveMinimum && !belowMaximum)
    return `${kind} from ${minimum} to ${maximum}`;
  const above = minimum === null ? '' : aboveMinimum ? ` above ${minimum}` : ` of at least ${minimum}`;
  const below = maximum === null ? '' : belowMaximum ? ` below ${maximum}` : ` of at most ${maximum}`;
  return `${kind}${above}${above !== '' && below !== '' ? ' and' : ''}${below}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-11-24',
  'date-time': 'a time such as 2026-11-24T16:00:00Z',
  time: 'a time of day such as 16:00:00Z',
  email: 'an e-mail address',
  uri: 'a URL',
};

function textWords({ format, minLength, maxLength }: TextField): string {
  if (format !== null) return Object.hasOwn(FORMATS, format) ? (FORMATS[format] ?? format) : format;
  const least = minLength ?? 0;
  if (maxLength !== null)
    return least > 0 ? `text of ${least} to ${maxLength} characters` : `text of up to ${maxLength} characters`;
  return least > 1 ? `text of at least ${least} characters` : 'text';
}
