// A clock whose long timers end when the test says so.
import { type Clock, systemClock } from '@methods/base/clock';

const LONG_MS = 30_000;

export function heldClock() {
  const held = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    after(ms, run) {
      if (ms < LONG_MS) return systemClock.after(ms, run);
      held.add(run);
      return { cancel: () => void held.delete(run) };
    },
  };
  return { clock, held };
}
