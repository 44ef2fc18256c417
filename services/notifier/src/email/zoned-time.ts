// A moment as a mail shows it: in the organization's zone and in UTC, "Tue 24 Nov, 16:00 CET (15:00 UTC)".

/** An unknown zone is UTC. The year is shown where it is not the present one. */
export function zonedTime(atMs: number, timeZone: string, nowMs: number): string {
  const zone = known(timeZone);
  const local = parts(atMs, zone);
  const utc = parts(atMs, 'UTC');
  const year = local.year === parts(nowMs, zone).year ? '' : ` ${local.year}`;
  const there = `${local.weekday} ${local.day} ${local.month}${year}, ${local.hour}:${local.minute} ${local.timeZoneName}`;
  if (local.timeZoneName === 'UTC') return there;
  const sameDay = local.day === utc.day && local.month === utc.month;
  return `${there} (${sameDay ? '' : `${utc.weekday} ${utc.day} ${utc.month}, `}${utc.hour}:${utc.minute} UTC)`;
}

function known(timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}

function parts(atMs: number, timeZone: string): Readonly<Record<string, string>> {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  });
  return Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
}
