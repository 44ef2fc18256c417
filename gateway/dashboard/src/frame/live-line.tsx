// Says when the page no longer changes by itself, and when the server has a newer one.
import { Button } from '@mantine/core';
import { useLive } from '../live/live-events.tsx';
import { useNow } from '../time/now.ts';
import { shortTime } from '../time/written-time.ts';
import { useZone } from '../time/zone.tsx';
import classes from './live-line.module.css';

/** A connection that is back within this time was never missed. */
const GRACE_MS = 3_000;

export function LiveLine() {
  const { state, isOutdated } = useLive();
  if (isOutdated) {
    return (
      <div className={classes.line} role="status">
        <span>The dashboard was updated.</span>
        <Button size="compact-xs" variant="default" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </div>
    );
  }
  return state.kind === 'stopped' ? <Stopped sinceMs={state.sinceMs} /> : null;
}

function Stopped({ sinceMs }: { readonly sinceMs: number }) {
  const nowMs = useNow();
  const zone = useZone();
  if (nowMs - sinceMs < GRACE_MS) return null;
  return (
    <div className={classes.line} role="status">
      Live updates stopped at {shortTime(sinceMs, zone, nowMs)}. Reconnecting.
    </div>
  );
}
