// What an entry of the audit log changed, field by field.

interface FieldChange {
  readonly name: string;
  /** As text; null: the field was not there. */
  readonly before: string | null;
  readonly after: string | null;
}

type Fields = Readonly<Record<string, unknown>> | null;

/** Fields with the same value before and after are left out. */
export function changesOf(before: Fields, after: Fields): FieldChange[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .map((name) => ({ name, before: textOf(before, name), after: textOf(after, name) }))
    .filter((change) => change.before !== change.after);
}

function textOf(fields: Fields, name: string): string | null {
  if (fields === null || !Object.hasOwn(fields, name)) return null;
  const value = fields[name];
  return typeof value === 'string' ? value : JSON.stringify(value);
}
