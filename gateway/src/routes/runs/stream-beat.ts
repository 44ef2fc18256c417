// The regular checks of an open reply: sends a comment, which keeps proxies from closing it, checks that its reader
// reads, and checks the credential, whose right may end while the reply is open.
import type { Clock, Timer } from '@methods/base/clock';

export interface BeatLimits {
  /** The interval of comments. */
  readonly beatMs: number;
  /** The interval of credential checks. A cached credential is valid for 30 s at most, so a right ends within 30 s. */
  readonly checkMs: number;
  /** How long a reader may take for pending bytes. */
  readonly slowMs: number;
}

export interface BeatenReply {
  /** Monotonic ms; null: the reader reads. */
  readonly blockedSinceMs: number | null;
  comment(): void;
  drop(reason: 'slow' | 'unauthorized'): void;
}

export class StreamBeat {
  private timer: Timer | null = null;
  private stopped = false;
  private commentAtMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly limits: BeatLimits,
    /** Whether the caller may still read. */
    private readonly mayRead: () => Promise<boolean>,
    private readonly reply: BeatenReply,
  ) {
    this.commentAtMs = clock.monotonicMs() + limits.beatMs;
    this.later();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private later(): void {
    const { beatMs, checkMs } = this.limits;
    this.timer = this.clock.after(Math.min(beatMs, checkMs), () => void this.look());
  }

  private async look(): Promise<void> {
    const { reply, limits } = this;
    const nowMs = this.clock.monotonicMs();
    if (reply.blockedSinceMs !== null && nowMs - reply.blockedSinceMs >= limits.slowMs) return reply.drop('slow');
    const mayRead = await this.mayRead();
    if (this.stopped) return;
    if (!mayRead) return reply.drop('unauthorized');
    if (nowMs >= this.commentAtMs) {
      this.commentAtMs = nowMs + limits.beatMs;
      if (reply.blockedSinceMs === null) reply.comment();
    }
    this.later();
  }
}
