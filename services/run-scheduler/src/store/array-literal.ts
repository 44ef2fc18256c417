// Builds Postgres array literals by hand: a batch binds about forty arrays, and the driver's own serializer needs a
// regular expression and a closure for each element. Elements are joined, since appending to a text leaves three
// objects behind for each element.

/** A column in a section of the commit statement: an element of a bound array for each row. */
export interface Column<Row> {
  readonly name: string;
  /** Type of the bound array's elements. */
  readonly type: string;
  readonly value: (row: Row) => ArrayElement;
  /** SQL that converts the bound element to the column, if they differ. */
  readonly sql?: string;
}

export type ArrayElement = string | number | boolean | null;

const NEEDS_ESCAPE = /["\\]/;
/** Characters that JSON escapes in another way than Postgres. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are meant
const NOT_AS_JSON = /[\u0000-\u001f\ud800-\udfff]/;

export function arrayLiteral(values: readonly ArrayElement[]): string {
  let texts = 0;
  let nulls = 0;
  for (let i = 0; i < values.length; i++) {
    if (typeof values[i] === 'string') texts++;
    else if (values[i] === null || values[i] === undefined) nulls++;
  }
  if (texts === 0 && nulls === 0) return `{${values.join(',')}}`;
  if (texts === values.length) return `{"${escapedTexts(values as readonly string[]).join('","')}"}`;
  return `{${values.map(literalOf).join(',')}}`;
}

/** Returns the same list if nothing needs an escape, as usual. */
function escapedTexts(texts: readonly string[]): readonly string[] {
  return texts.some((text) => NEEDS_ESCAPE.test(text)) ? texts.map(escaped) : texts;
}

function literalOf(value: ArrayElement): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'string' ? `"${escaped(value)}"` : String(value);
}

function escaped(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return text;
  // Takes a fraction of the time of a replacement, and most texts with quotes are JSON.
  return NOT_AS_JSON.test(text) ? text.replace(/["\\]/g, '\\$&') : JSON.stringify(text).slice(1, -1);
}
