// Times and durations as text. Pure: the zone and the present come from the caller.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${name}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options });
  formats.set(key, known);
  return known;
}

/** 25 Nov 2026, 14:02:07.123 CET. */
export function wholeTime(ms: number, zone: string): string {
  return format(zone, 'whole', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    timeZoneName: 'short',
  }).format(ms);
}

/** 14:02 today, else 24 Nov, 14:02, and with the year if it is another one. */
export function shortTime(ms: number, zone: string, nowMs: number): string {
  const clock = format(zone, 'clock', { hour: '2-digit', minute: '2-digit' }).format(ms);
  const day = dayOf(ms, zone);
  if (day === dayOf(nowMs, zone)) return clock;
  const sameYear = day.slice(0, 4) === dayOf(nowMs, zone).slice(0, 4);
  const date = format(zone, sameYear ? 'day' : 'date', {
    day: 'numeric',
    month: 'short',
    ...(!sameYear && { year: 'numeric' }),
  }).format(ms);
  return `${date}, ${clock}`;
}

/** 2026-11-25. */
export function dayOf(ms: number, zone: string): string {
  return format(zone, 'iso', { year: 'numeric', month: '2-digit', day: '2-digit' })
    .formatToParts(ms)
    .filter(({ type }) => type !== 'literal')
    .reverse()
    .map(({ value }) => value)
    .join('-');
}

/** CET. */
export function zoneWord(ms: number, zone: string): string {
  const parts = format(zone, 'zone', { timeZoneName: 'short' }).formatToParts(ms);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
}

/** 12 ms, 1.2 s, 2 min 5 s, 3 h 10 min, 2 d 4 h: at most two units. */
export function writtenDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return two(ms, MINUTE_MS, 'min', SECOND_MS, 's');
  if (ms < DAY_MS) return two(ms, HOUR_MS, 'h', MINUTE_MS, 'min');
  return two(ms, DAY_MS, 'd', HOUR_MS, 'h');
}

function two(ms: number, largeMs: number, large: string, smallMs: number, small: string): string {
  const more = Math.floor((ms % largeMs) / smallMs);
  return `${Math.floor(ms / largeMs)} ${large}${more === 0 ? '' : ` ${more} ${small}`}`;
}

/** just now, 5 min ago, in 2 h: one unit. */
export function relativeTime(ms: number, nowMs: number): string {
  const distance = Math.abs(nowMs - ms);
  if (distance < 10 * SECOND_MS) return 'just now';
  const text = oneUnit(distance);
  return ms <= nowMs ? `${text} ago` : `in ${text}`;
}

function oneUnit(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}
