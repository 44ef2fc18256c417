// A time as a field of the kind `datetime-local` has it: local, and without a zone. Pure.

/** RFC 3339; null: nothing, or no time. */
export function typedTime(value: FormDataEntryValue | null): string | null {
  const ms = typeof value === 'string' && value !== '' ? new Date(value).getTime() : Number.NaN;
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** As the field writes it; empty: no time. */
export function timeField(time: string | undefined): string {
  const ms = Date.parse(time ?? '');
  if (Number.isNaN(ms)) return '';
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
