// A time and a duration on a page: short, in the reader's zone, and on hover in all zones.
import { Tooltip } from '@mantine/core';
import { useSettings } from '../session/settings.ts';
import { useNow } from './now.ts';
import classes from './time.module.css';
import { relativeTime, shortTime, wholeTime, writtenDuration } from './written-time.ts';
import { localZone, useZone } from './zone.ts';

interface TimeProps {
  /** RFC 3339; null: unknown. */
  readonly at: string | null | undefined;
  /** `ago`: 5 min ago. */
  readonly as?: 'clock' | 'ago' | 'whole';
}

export function Time({ at, as = 'clock' }: TimeProps) {
  const zone = useZone();
  const nowMs = useNow(as === 'ago' ? 5_000 : 60_000);
  if (at === null || at === undefined) return <span className={classes.none}>–</span>;
  const ms = Date.parse(at);
  return (
    <Tooltip label={<Zones ms={ms} />}>
      <time dateTime={at} className={classes.time}>
        {as === 'ago' ? relativeTime(ms, nowMs) : as === 'whole' ? wholeTime(ms, zone) : shortTime(ms, zone, nowMs)}
      </time>
    </Tooltip>
  );
}

function Zones({ ms }: { readonly ms: number }) {
  const organization = useSettings().data?.time_zone;
  const zones = [...new Set([localZone(), 'UTC', ...(organization === undefined ? [] : [organization])])];
  const nowMs = useNow();
  return (
    <span className={classes.zones}>
      {zones.map((zone) => (
        <span key={zone}>{wholeTime(ms, zone)}</span>
      ))}
      <span>{relativeTime(ms, nowMs)}</span>
    </span>
  );
}

/** `sinceMs`: it still grows from then, wall time. */
export function Duration({ ms, sinceMs }: { readonly ms: number; readonly sinceMs?: number | undefined }) {
  if (sinceMs !== undefined) return <Growing ms={ms} sinceMs={sinceMs} />;
  return <span className={classes.time}>{writtenDuration(ms)}</span>;
}

function Growing({ ms, sinceMs }: { readonly ms: number; readonly sinceMs: number }) {
  const nowMs = useNow();
  return <span className={classes.time}>{writtenDuration(ms + Math.max(0, nowMs - sinceMs))}</span>;
}
