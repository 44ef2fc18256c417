// Growing waits with jitter, so that the clients of one failed part do not all retry at the same time.

export interface BackoffOptions {
  /** First wait in ms. */
  readonly firstMs: number;
  /** Longest wait in ms. */
  readonly maxMs: number;
  /** Growth of each wait; 2 doubles. */
  readonly factor?: number;
  /** Share of the wait that is random, 0..1. */
  readonly jitter?: number;
}

export class Backoff {
  private tries = 0;

  constructor(
    private readonly options: BackoffOptions,
    private readonly random: () => number = Math.random,
  ) {}

  nextMs(): number {
    const { firstMs, maxMs, factor = 2, jitter = 0.2 } = this.options;
    const wait = Math.min(maxMs, firstMs * factor ** this.tries);
    if (wait < maxMs) this.tries++;
    return wait * (1 - jitter + 2 * jitter * this.random());
  }

  reset(): void {
    this.tries = 0;
  }
}
