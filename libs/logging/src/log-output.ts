// Where the lines of a log go: to a descriptor, written aside, so that a stalled reader or disk never blocks the
// process. Waiting lines are bounded; more are dropped and counted.
import { once } from 'node:events';
import type { DestinationStream } from 'pino';
import sonicBoom from 'sonic-boom';

const STANDARD_ERROR = 2;
const WAITING_BYTES_MAX = 4 << 20;
/** At the end of the process a full pipe is looked at again so often, every 100 ms. */
const LAST_LOOKS = 5;

export interface LogOutputOptions {
  /** Default: standard error. */
  readonly fd?: number;
  readonly waitingBytesMax?: number;
}

export class LogOutput implements DestinationStream {
  /** Called with their number when there is room again. */
  onDropped: (lines: number) => void = () => {};
  private readonly stream: sonicBoom.SonicBoom;
  private dropped = 0;
  private isIdle = true;
  private looksLeft = Number.POSITIVE_INFINITY;

  constructor({ fd = STANDARD_ERROR, waitingBytesMax = WAITING_BYTES_MAX }: LogOutputOptions = {}) {
    // Node makes a pipe or socket non-blocking when it opens its stream. A write that blocks would hold a thread, and
    // the end of the process with it.
    if (fd === STANDARD_ERROR) process.stderr.on('error', () => {});
    this.stream = new sonicBoom.SonicBoom({
      fd,
      sync: false,
      maxLength: waitingBytesMax,
      retryEAGAIN: () => this.looksLeft-- > 0,
    });
    this.stream.on('drop', () => this.dropped++);
    this.stream.on('drain', () => this.drained());
    // A reader that has gone, a full disk: the process continues without its log, and the next line tries again.
    this.stream.on('error', () => {});
    process.once('exit', () => this.writeLast());
  }

  write(line: string): void {
    this.isIdle = false;
    this.stream.write(line);
  }

  /** Resolves when all of it is written, at the latest after `waitMs`. */
  async written(waitMs: number): Promise<void> {
    if (this.isIdle) return;
    await once(this.stream, 'drain', { signal: AbortSignal.timeout(waitMs) }).catch(() => {});
  }

  private drained(): void {
    this.isIdle = true;
    if (this.dropped === 0) return;
    const lines = this.dropped;
    this.dropped = 0;
    this.onDropped(lines);
  }

  private writeLast(): void {
    if (this.isIdle) return;
    this.looksLeft = LAST_LOOKS;
    try {
      this.stream.flushSync();
    } catch {
      // No one reads it.
    }
  }
}
