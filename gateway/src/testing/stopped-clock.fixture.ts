// A clock on which no time passes, so that what is known for a second, or filled up once a second, does not depend on
// the machine. Timers keep the real time.
import { type Clock, systemClock } from '@methods/base/clock';

export const stoppedClock: Clock = { ...systemClock, monotonicMs: () => 1_000_000 };
