// The end of a run from outside (cancelled, lost, stale) as its steps see it. One listener a run: adding one for
// every step would cost more than a short step itself.

export class RunStop {
  private readonly cancels = new Set<() => void>();
  /** Kept here: it is read at every turn of a walk, and reading the signal is slow. */
  private aborted: boolean;

  constructor(private readonly signal: AbortSignal) {
    this.aborted = signal.aborted;
    signal.addEventListener('abort', this);
  }

  get stopped(): boolean {
    return this.aborted;
  }

  handleEvent(): void {
    this.aborted = true;
    for (const cancel of this.cancels) cancel();
  }

  /** Waits for `work`; calls `cancel` when the run is stopped meanwhile. */
  async during<T>(work: Promise<T>, cancel: () => void): Promise<T> {
    if (this.stopped) cancel();
    this.cancels.add(cancel);
    try {
      return await work;
    } finally {
      this.cancels.delete(cancel);
    }
  }

  /** At the run's end; the signal may live longer. */
  release(): void {
    this.signal.removeEventListener('abort', this);
  }
}
