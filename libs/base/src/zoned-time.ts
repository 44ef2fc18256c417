// Writes moments for people: in the organization's zone, and in UTC beside it.

interface Parts {
  readonly weekday: string;
  readonly day: string;
  readonly month: string;
  readonly year: string;
  readonly time: string;
  readonly zone: string;
}

/**
 * As in `Tue 24 Nov 2026, 16:00 CET (15:00 UTC)`. An unknown zone is UTC; an invalid time gives an empty text.
 * `nowMs`: leaves out the year where it is the present one.
 */
export function zonedTime(atMs: number, timeZone: string, nowMs?: number): string {
  const there = partsOf(atMs, timeZone);
  const utc = partsOf(atMs, 'UTC');
  if (there === null || utc === null) return '';
  const thisYear = nowMs === undefined ? null : partsOf(nowMs, timeZone)?.year;
  const text = `${dayOf(there, there.year !== thisYear)}, ${there.time} ${there.zone}`;
  if (there.zone === 'UTC') return text;
  const isSameDay = there.day === utc.day && there.month === utc.month;
  return `${text} (${isSameDay ? '' : `${dayOf(utc, utc.year !== thisYear)}, `}${utc.time} UTC)`;
}

/** As in `14:31 CET`. */
export function timeOfDay(atMs: number, timeZone: string): string {
  const parts = partsOf(atMs, timeZone);
  return parts === null ? '' : `${parts.time} ${parts.zone}`;
}

function dayOf({ weekday, day, month, year }: Parts, withYear: boolean): string {
  return `${weekday} ${day} ${month}${withYear ? ` ${year}` : ''}`;
}

function partsOf(atMs: number, timeZone: string): Parts | null {
  if (Number.isNaN(new Date(atMs).getTime())) return null;
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  const { weekday = '', day = '', month = '', year = '', hour, minute, timeZoneName: zone = '' } = parts;
  return { weekday, day, month, year, time: `${hour}:${minute}`, zone };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const format = (zone: string) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'short',
    });
  try {
    return format(timeZone);
  } catch {
    return format('UTC');
  }
}
