// Writes times for people: in the organization's zone, and in UTC beside it.
import { type Html, html } from './html.ts';

/** As in `Tue 24 Nov 2026, 16:00 CET (15:00 UTC)`. A script adds the reader's own time. */
export function timePart(ms: number, zone: string): Html {
  return html`<time datetime="${isoOf(ms)}">${zonedTime(ms, zone)}</time>`;
}

function zonedTime(ms: number, zone: string): string {
  const here = partsOf(ms, zone) ?? partsOf(ms, 'UTC');
  const utc = partsOf(ms, 'UTC');
  if (here === null || utc === null) return '';
  const text = `${here.day}, ${here.time} ${here.zone}`;
  if (here.zone === 'UTC') return text;
  return `${text} (${here.day === utc.day ? '' : `${utc.day}, `}${utc.time} UTC)`;
}

/** As in `14:31 CET`. */
export function timeOfDay(ms: number, zone: string): string {
  const { time, zone: name } = partsOf(ms, zone) ?? partsOf(ms, 'UTC') ?? { time: '', zone: '' };
  return `${time} ${name}`;
}

function isoOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

/** Null for an unknown zone, or a time that is none. */
function partsOf(ms: number, timeZone: string): { day: string; time: string; zone: string } | null {
  try {
    const format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'short',
    });
    const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const { weekday, day, month, year, hour, minute, timeZoneName: zone = '' } = part;
    return { day: `${weekday} ${day} ${month} ${year}`, time: `${hour}:${minute}`, zone };
  } catch {
    return null;
  }
}
