// A steady load: a given number of runs a second is started, each awaited by its own client, independent of the others.
// An open loop, so that a stall shows as long waits instead of fewer requests.
import type { Run, RunClient } from './run-client.ts';

export interface LoadReport {
  /** As each run ended, in the order of their starts. */
  readonly runs: readonly Run[];
  /** Longest time from a request to its run's end, repeats included. */
  readonly longestMs: number;
  readonly medianMs: number;
  /** What no client may see, by its text. */
  readonly violations: readonly string[];
}

interface Ended {
  readonly run: Run;
  readonly tookMs: number;
}

const TURN_MS = 50;
const WAIT_MS = 10_000;

export class SteadyLoad {
  private readonly clients: Promise<Ended | null>[] = [];
  private readonly violations: string[] = [];
  private readonly timer: NodeJS.Timeout;
  private owed = 0;
  private ended = 0;

  constructor(
    private readonly client: RunClient,
    private readonly order: { readonly method: string; readonly inputs: object; readonly perSecond: number },
  ) {
    this.timer = setInterval(() => this.turn(), TURN_MS);
  }

  /** Runs that have ended so far. */
  get finished(): number {
    return this.ended;
  }

  /** Starts no more and waits for all that were started. */
  async stop(): Promise<LoadReport> {
    clearInterval(this.timer);
    const ended = (await Promise.all(this.clients)).filter((end) => end !== null);
    const times = ended.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
    return {
      runs: ended.map(({ run }) => run),
      longestMs: times.at(-1) ?? 0,
      medianMs: times[times.length >> 1] ?? 0,
      violations: this.violations,
    };
  }

  private turn(): void {
    this.owed += (this.order.perSecond * TURN_MS) / 1_000;
    for (; this.owed >= 1; this.owed--) this.clients.push(this.one());
  }

  private async one(): Promise<Ended | null> {
    const beganMs = performance.now();
    try {
      const run = await this.client.start(this.order.method, this.order.inputs, WAIT_MS);
      this.ended++;
      return { run, tookMs: performance.now() - beganMs };
    } catch (error) {
      this.violations.push(String(error));
      return null;
    }
  }
}
