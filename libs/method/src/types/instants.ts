// Compares times by the moment they mean: `2026-01-01T00:30:00+02:00` is earlier than `2025-12-31T23:00:00Z`, though not
// as a text. A value whose type is a datetime or a time becomes a text that sorts as the moments do.
import { isJsonList, isJsonObject, type JsonValue, objectOf, ownField } from '../json.ts';
import { hasFormat } from './formats.ts';
import { membersOf, type Type } from './type.ts';

type TimeFormat = 'date-time' | 'time';

const DAY_SECONDS = 86_400;
const PATTERN =
  /^(?:(\d{4}-\d\d-\d\d)(?:[Tt\s]|$))?(?:(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?([Zz]|([+-])(\d\d)(?::?(\d\d))?))?$/;
const CHARACTERS_MAX = 64;

interface Moment {
  /** Since 1970, or since midnight of the day in UTC for a time. */
  readonly seconds: number;
  /** Digits after the point, without zeros at the end: exact, however many there are. */
  readonly fraction: string;
}

/** Null: no date, and no datetime with an offset. A date begins at midnight in UTC, as for `timestamp`. */
function momentOf(text: string, format: TimeFormat): Moment | null {
  if (text.length > CHARACTERS_MAX) return null;
  const match = PATTERN.exec(text);
  if (match === null) return null;
  const [, date, hours, minutes = '0', seconds = '0', fraction = '', , sign, offsetHours = '0', offsetMinutes = '0'] =
    match;
  if ((date === undefined) !== (format === 'time') || (date !== undefined && !hasFormat('date', date))) return null;
  if (hours === undefined && (date === undefined || text.length > date.length)) return null;
  if (Number(hours ?? 0) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return null;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return null;
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHours) * 3600 + Number(offsetMinutes) * 60);
  const day = date === undefined ? 0 : Date.parse(date) / 1000;
  const ofDay = Number(hours ?? 0) * 3600 + Number(minutes) * 60 + Number(seconds);
  return { seconds: day + ofDay - offset, fraction: fraction.replace(/0+$/, '') };
}

/** Milliseconds since 1970, what is finer cut off; null where it is neither a date nor a datetime with an offset. */
export function timestampOf(text: string): number | null {
  const moment = momentOf(text, 'date-time');
  return moment === null ? null : moment.seconds * 1000 + Number(moment.fraction.slice(0, 3).padEnd(3, '0'));
}

/** Seconds added so that no time before 1970 is negative. */
const FIRST_SECOND = 719_529 * DAY_SECONDS;
const SECONDS_DIGITS = 12;
/** No text of an expression holds it. */
const MARK = '\0';

function sortText({ seconds, fraction }: Moment): string {
  return `${MARK}${String(seconds + FIRST_SECOND).padStart(SECONDS_DIGITS, '0')}.${fraction}`;
}

export function isSortText(text: string): boolean {
  return text.startsWith(MARK);
}

/** True when a value of the type can hold a datetime or a time anywhere. */
export function holdsTimes(type: Type): boolean {
  return holds(type, new Set());
}

function holds(type: Type, asked: Set<Type>): boolean {
  if (asked.has(type)) return false;
  asked.add(type);
  return membersOf(type).some((member) => {
    if (member.kind === 'string') return formatOf(member) !== null;
    if (member.kind === 'list' || member.kind === 'map') return holds(member.of, asked);
    if (member.kind !== 'object') return false;
    for (const field of member.fields.values()) if (holds(field.type, asked)) return true;
    return false;
  });
}

function formatOf(type: Type): TimeFormat | null {
  if (type.kind !== 'string') return null;
  return type.format === 'date-time' || type.format === 'time' ? type.format : null;
}

/** The value with its times as texts that sort, and are equal, as the moments are. `types`: any of them may say so. */
export function comparable(value: JsonValue, types: readonly Type[]): JsonValue {
  const members = types.flatMap((type) => membersOf(type));
  if (typeof value === 'string') {
    const format = members.map(formatOf).find((it) => it !== null) ?? null;
    const moment = format === null ? null : momentOf(value, format);
    return moment === null ? value : sortText(moment);
  }
  if (typeof value !== 'object' || value === null) return value;
  const inner = (pick: (member: Type) => Type | undefined) => members.map(pick).filter((type) => type !== undefined);
  if (isJsonList(value)) {
    const items = inner((member) => (member.kind === 'list' ? member.of : undefined));
    return items.some(holdsTimes) ? value.map((item) => comparable(item, items)) : value;
  }
  if (!isJsonObject(value)) return value;
  const object = value;
  return objectOf(
    Object.keys(object).map((name) => {
      const fields = inner((member) =>
        member.kind === 'map' ? member.of : member.kind === 'object' ? member.fields.get(name)?.type : undefined,
      );
      const field = ownField(object, name) ?? null;
      return [name, fields.length === 0 ? field : comparable(field, fields)] as const;
    }),
  );
}
