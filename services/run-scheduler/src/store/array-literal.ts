// Postgres array literals made by hand: a batch binds some forty arrays, and the driver's own serializer takes a
// regular expression and a closure for each element.

export type ArrayElement = string | number | boolean | null;

const NEEDS_ESCAPE = /["\\]/;

export function arrayLiteral(values: readonly ArrayElement[]): string {
  let text = '{';
  for (let i = 0; i < values.length; i++) {
    if (i > 0) text += ',';
    const value = values[i];
    if (value === null || value === undefined) text += 'NULL';
    else if (typeof value === 'string')
      text += `"${NEEDS_ESCAPE.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`;
    else text += String(value);
  }
  return `${text}}`;
}
