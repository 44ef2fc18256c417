// A time and a duration on a page: short, in the reader's zone, and on hover in all zones.
import { useNow } from './now.ts';
import classes from './time.module.css';
import { relativeTime, shortTime, wholeTime, writtenDuration } from './written-time.ts';
import { localZone, useZones } from './zone.tsx';

interface TimeProps {
  /** RFC 3339; null: unknown. */
  readonly at: string | null | undefined;
  /** `ago`: 5 min ago. */
  readonly as?: 'clock' | 'ago' | 'whole';
}

export function Time({ at, as = 'clock' }: TimeProps) {
  const { read: zone, organization } = useZones();
  const nowMs = useNow(as === 'ago' ? 5_000 : 60_000);
  if (at === null || at === undefined) return <span className={classes.none}>–</span>;
  const ms = Date.parse(at);
  return (
    <time
      dateTime={at}
      className={classes.time}
      // Written when it is looked at: a list has hundreds of times.
      onMouseEnter={(event) => {
        event.currentTarget.title = inAllZones(ms, organization);
      }}
    >
      {as === 'ago' ? relativeTime(ms, nowMs) : as === 'whole' ? wholeTime(ms, zone) : shortTime(ms, zone, nowMs)}
    </time>
  );
}

function inAllZones(ms: number, organization: string | undefined): string {
  const zones = new Set([localZone(), 'UTC', ...(organization === undefined ? [] : [organization])]);
  return [...[...zones].map((zone) => wholeTime(ms, zone)), relativeTime(ms, Date.now())].join('\n');
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
