// A clock that does not advance, so that values cached for a second, or buckets refilled once a second, do not depend
// on the machine. Timers keep the real time.
import { type Clock, systemClock } from '@methods/base/clock';

export const stoppedClock: Clock = { ...systemClock, monotonicMs: () => 1_000_000 };
