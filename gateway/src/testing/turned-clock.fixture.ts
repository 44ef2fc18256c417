// The system's clock, which a test can advance; timers keep the real time.
import { type Clock, systemClock } from '@methods/base/clock';

export function turnedClock(): { clock: Clock; turn(ms: number): void } {
  let aheadMs = 0;
  const { wallMs, monotonicMs } = systemClock;
  const clock = { ...systemClock, wallMs: () => wallMs() + aheadMs, monotonicMs: () => monotonicMs() + aheadMs };
  return {
    clock,
    turn(ms) {
      aheadMs += ms;
    },
  };
}
