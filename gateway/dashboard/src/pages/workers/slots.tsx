// How many runs a worker executes, of how many at a time: a bar, and the numbers as words.
import type { ConnectedWorker } from '../../api/shapes.ts';
import classes from './workers.module.css';

export function Slots({ worker }: { readonly worker: ConnectedWorker }) {
  const busy = Math.max(0, worker.slots - worker.free);
  const share = worker.slots === 0 ? 0 : Math.min(1, busy / worker.slots);
  return (
    <span className={classes.slots}>
      <svg width="64" height="8" aria-hidden="true">
        <rect width="64" height="8" rx="2" className={classes.allSlots} />
        <rect width={share * 64} height="8" rx="2" className={classes.busySlots} />
      </svg>
      <span className="numbers">
        {busy} of {worker.slots}
      </span>
      {worker.leaving && <span className={classes.quiet}>leaving</span>}
    </span>
  );
}
