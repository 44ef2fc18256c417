// JSON built from texts that are already JSON, so that values pass through unread.

/** An object of the members whose text is given, in this order. */
export function jsonObject(members: readonly (readonly [name: string, json: string | undefined])[]): string {
  const parts = members.flatMap(([name, json]) => (json === undefined ? [] : [`${JSON.stringify(name)}:${json}`]));
  return `{${parts.join(',')}}`;
}

/** A value carried as JSON text; the empty text means none. */
export function carriedJson(json: string): string {
  return json === '' ? 'null' : json;
}

/** RFC 3339 in UTC with milliseconds; 0 is an unknown time, null. */
export function timeJson(ms: number): string {
  return ms === 0 ? 'null' : JSON.stringify(new Date(ms).toISOString());
}

/** A text that may be missing: the member is left out then. */
export function textIfAny(text: string): string | undefined {
  return text === '' ? undefined : JSON.stringify(text);
}
