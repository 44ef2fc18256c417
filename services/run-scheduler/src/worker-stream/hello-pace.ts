// Limits how fast the workers of one key may send hellos: each hello uses the key's own budget, and hellos beyond it
// wait in the key's own line. A worker that dials in a loop thus delays only its own key.
import type { Clock } from '@methods/base/clock';
import type { OrgId, ProductionId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import { ServiceError } from '@methods/errors/service-error';

const PER_SECOND = 20;
const BUDGET_MAX = 100;
/** This many queues cost as much as a hello itself. */
const QUEUES_PER_POINT = 500;
const WAIT_MS = 10_000;
/** Names of methods in the waiting hellos: about 100 bytes each. */
const NAMES_MAX = 200_000;
const NAMES_OF_KEY_MAX = 25_000;

export interface PacedHello {
  readonly orgId: OrgId;
  /** Of the key, or of the person. */
  readonly keyId: string;
  readonly methods: readonly ProductionId[];
  readonly queueCount: number;
  /** Reports whether the stream has ended. */
  readonly isGone: () => boolean;
}

interface Waiting {
  readonly points: number;
  readonly sinceMs: number;
  readonly isGone: () => boolean;
  readonly leave: () => void;
  readonly go: () => void;
  readonly refuse: (error: ServiceError) => void;
}

interface KeyPace {
  budget: number;
  atMs: number;
  readonly line: Waiting[];
  timer: { cancel(): void } | null;
}

export class HelloPace {
  private readonly keys = new Map<string, KeyPace>();
  private readonly names = new Shares({ placesMax: NAMES_MAX, perKeyMax: NAMES_OF_KEY_MAX });

  constructor(private readonly clock: Clock) {}

  /**
   * Returns null if the hello is admitted at once. Rejects with `rate_limited`; never settles for a stream that is
   * gone.
   */
  admit({ orgId, keyId, methods, queueCount, isGone }: PacedHello): Promise<void> | null {
    const pace = this.paceOf(keyId);
    const points = 1 + Math.floor(queueCount / QUEUES_PER_POINT);
    if (pace.line.length === 0 && pace.budget >= points) {
      pace.budget -= points;
      return null;
    }
    const place = this.names.take(orgId, keyId, methods.length);
    if (!place.ok) return Promise.reject(tooFast());
    const { leave } = place;
    return new Promise((go, refuse) => {
      pace.line.push({ points, sinceMs: this.clock.monotonicMs(), isGone, leave, go, refuse });
      this.wait(keyId, pace);
    });
  }

  /** Called on a coarse tick: removes keys whose budget is full again. */
  sweep(): void {
    for (const [keyId, pace] of this.keys) {
      this.refill(pace);
      if (pace.line.length === 0 && pace.budget === BUDGET_MAX) this.keys.delete(keyId);
    }
  }

  private paceOf(keyId: string): KeyPace {
    const known = this.keys.get(keyId);
    if (known !== undefined) {
      this.refill(known);
      return known;
    }
    const pace = { budget: BUDGET_MAX, atMs: this.clock.monotonicMs(), line: [], timer: null };
    this.keys.set(keyId, pace);
    return pace;
  }

  private refill(pace: KeyPace): void {
    const nowMs = this.clock.monotonicMs();
    pace.budget = Math.min(BUDGET_MAX, pace.budget + ((nowMs - pace.atMs) / 1_000) * PER_SECOND);
    pace.atMs = nowMs;
  }

  private wait(keyId: string, pace: KeyPace): void {
    const [first] = pace.line;
    if (pace.timer !== null || first === undefined) return;
    const missing = Math.max(0, first.points - pace.budget);
    pace.timer = this.clock.after(Math.ceil((missing / PER_SECOND) * 1_000) + 1, () => {
      pace.timer = null;
      this.next(keyId, pace);
    });
  }

  private next(keyId: string, pace: KeyPace): void {
    this.refill(pace);
    const tooLateMs = this.clock.monotonicMs() - WAIT_MS;
    for (let first = pace.line[0]; first !== undefined; first = pace.line[0]) {
      const late = first.sinceMs < tooLateMs;
      if (!first.isGone() && !late && pace.budget < first.points) break;
      pace.line.shift();
      first.leave();
      if (first.isGone()) continue;
      if (late) first.refuse(tooFast());
      else {
        pace.budget -= first.points;
        first.go();
      }
    }
    this.wait(keyId, pace);
  }
}

function tooFast(): ServiceError {
  return new ServiceError('rate_limited', 'The workers of this key connect too often.', { retryAfterMs: WAIT_MS });
}
