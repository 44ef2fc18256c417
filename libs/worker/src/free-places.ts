// The places of a worker: how many runs it holds at the same time, and what it announces of them. The node grants a run
// for each announced place. A worker that rests holds back its announcements until it is woken, and a worker that leaves
// announces nothing.

export class FreePlaces {
  private taken = 0;
  private unannounced = 0;
  private resting = false;
  private left = false;

  constructor(
    private readonly count: number,
    private readonly announced: (places: number) => void,
  ) {}

  /** Of a new stream, whose node knows nothing of the places yet. */
  announceAll(): void {
    this.unannounced = 0;
    this.announce(this.count - this.taken);
  }

  /** Returns a function that frees the place; further calls of it do nothing. */
  take(): () => void {
    this.taken++;
    let freed = false;
    return () => {
      if (freed) return;
      freed = true;
      this.taken--;
      this.announce(1);
    };
  }

  leave(): void {
    this.left = true;
  }

  /** True: runs are given back. */
  get areClosed(): boolean {
    return this.left || this.resting;
  }

  /**
   * Gives back each held run after its present step, and those that still arrive. The stream stays, so that waking costs
   * nothing.
   */
  rest(): void {
    this.resting = true;
  }

  wake(): void {
    this.resting = false;
    this.announce(this.unannounced);
    this.unannounced = 0;
  }

  private announce(places: number): void {
    if (this.left) return;
    if (this.resting) this.unannounced += places;
    else if (places > 0) this.announced(places);
  }
}
