// A request to another system, made when needed, but one at a time and not again before a pause: clients who send
// made-up tokens must not make us flood the identity provider.
import type { Clock } from '@methods/base/clock';

export interface Pauses {
  readonly afterSuccessMs: number;
  readonly afterFailureMs: number;
}

export class OnceInAWhile {
  private running: Promise<void> | null = null;
  private notBeforeMs = Number.NEGATIVE_INFINITY;
  private failure: unknown = null;

  constructor(
    private readonly clock: Clock,
    private readonly pauses: Pauses,
    private readonly act: () => Promise<void>,
  ) {}

  /**
   * Acts now, joins an act under way, or during the pause does nothing. @throws what the last act threw, also during
   * the pause after it.
   */
  run(): Promise<void> {
    if (this.running) return this.running;
    if (this.clock.monotonicMs() < this.notBeforeMs) {
      return this.failure === null ? Promise.resolve() : Promise.reject(this.failure);
    }
    this.running = this.attempt().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async attempt(): Promise<void> {
    try {
      await this.act();
      this.failure = null;
      this.notBeforeMs = this.clock.monotonicMs() + this.pauses.afterSuccessMs;
    } catch (error) {
      this.failure = error;
      this.notBeforeMs = this.clock.monotonicMs() + this.pauses.afterFailureMs;
      throw error;
    }
  }
}
