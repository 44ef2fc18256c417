// Keeps idle actors in memory a little longer: the most recently used, up to a number and an age. The others are
// dropped and loaded again from their rows when they get a message.
import type { Clock } from '@methods/base/clock';

export class Passivation<Key> {
  // A Map keeps insertion order: the first key is the one idle longest.
  private readonly idleSinceMs = new Map<Key, number>();

  constructor(
    private readonly options: {
      readonly idleMax: number;
      readonly idleMs: number;
      readonly clock: Clock;
      readonly drop: (key: Key) => void;
    },
  ) {}

  idle(key: Key): void {
    this.idleSinceMs.delete(key);
    this.idleSinceMs.set(key, this.options.clock.monotonicMs());
    if (this.idleSinceMs.size <= this.options.idleMax) return;
    for (const oldest of this.idleSinceMs.keys()) {
      this.release(oldest);
      return;
    }
  }

  busy(key: Key): void {
    this.idleSinceMs.delete(key);
  }

  /** Drops actors that have been idle too long; called on a coarse tick. */
  sweep(): void {
    const beforeMs = this.options.clock.monotonicMs() - this.options.idleMs;
    for (const [key, sinceMs] of this.idleSinceMs) {
      if (sinceMs > beforeMs) return;
      this.release(key);
    }
  }

  private release(key: Key): void {
    this.idleSinceMs.delete(key);
    this.options.drop(key);
  }
}
