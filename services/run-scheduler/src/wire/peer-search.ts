// Reaches a peer to which there is no link: dials it or, if the peer has to dial, checks whether it is there. Tries
// until it is ended, at growing intervals. A refused connection is reported at once: that peer is gone.
import { Backoff } from '@methods/base/backoff';
import type { Clock, Timer } from '@methods/base/clock';
import { canConnect } from '@methods/rpc/probe';

export interface PeerSearchOptions {
  readonly address: string;
  readonly clock: Clock;
  /** Resolves when the attempt is over, with or without a link; absent: the peer dials. */
  readonly dial: (() => Promise<void>) | null;
  readonly onRefused: () => void;
}

const PROBE_MS = 500;
// The peer that dials gets this long before its silence counts.
const FIRST_PROBE_MS = 300;

export class PeerSearch {
  private readonly backoff = new Backoff({ firstMs: 100, maxMs: 2_000, jitter: 0.3 });
  private timer: Timer | null = null;
  private ended = false;

  constructor(private readonly options: PeerSearchOptions) {}

  /** `broken`: there was a link until now, so a first refusal already counts. */
  start(broken: boolean): void {
    if (broken) void this.tryOnce(true);
    else if (this.options.dial) void this.tryOnce(false);
    else this.later(FIRST_PROBE_MS);
  }

  end(): void {
    this.ended = true;
    this.timer?.cancel();
  }

  private later(delayMs: number): void {
    if (this.ended) return;
    this.timer = this.options.clock.after(delayMs, () => void this.tryOnce(false));
  }

  // After a broken link it probes first: a probe needs one round trip, while a dial may take seconds to fail.
  private async tryOnce(broken: boolean): Promise<void> {
    const { address, dial, onRefused } = this.options;
    if (dial && !broken) await dial();
    if (this.ended) return;
    if ((await canConnect(address, PROBE_MS)) === 'refused' && !this.ended) onRefused();
    this.later(dial && broken ? 0 : this.backoff.nextMs());
  }
}
