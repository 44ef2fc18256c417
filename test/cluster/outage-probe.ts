// Requests made all the while, classified by their replies: an outage as a caller sees it.
import { randomUUID } from 'node:crypto';
import type { Cluster } from './cluster.ts';

const EVERY_MS = 100;
const GIVE_UP_MS = 30_000;

export interface ProbeReport {
  readonly served: number;
  /** 503 with `Retry-After`. */
  readonly unavailable: number;
  readonly longestMs: number;
  /** Any other reply, or none. */
  readonly wrong: readonly string[];
  /** Runs whose start was acknowledged. */
  readonly runIds: readonly string[];
}

export class OutageProbe {
  private readonly open = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;
  private readonly wrong = new Set<string>();
  private readonly runIds: string[] = [];
  private served = 0;
  private unavailable = 0;
  private longestMs = 0;
  private turn = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly ask: { readonly runId: string; readonly method: string; readonly start: () => object },
  ) {
    this.timer = setInterval(() => this.next(), EVERY_MS);
  }

  get refused(): number {
    return this.unavailable;
  }

  async stop(): Promise<ProbeReport> {
    clearInterval(this.timer);
    await Promise.all(this.open);
    const { served, unavailable, longestMs, wrong, runIds } = this;
    return { served, unavailable, longestMs, wrong: [...wrong], runIds };
  }

  private next(): void {
    const { runId, method, start } = this.ask;
    const requests: readonly (readonly [string, string, object?])[] = [
      ['GET', `/v1/runs/${runId}`],
      ['GET', `/v1/methods/${method}`],
      ['POST', '/v1/runs', { method, idempotency_key: randomUUID(), ...start() }],
    ];
    const [verb, path, body] = requests[this.turn++ % requests.length] as (typeof requests)[number];
    const request = this.request(verb, path, body).finally(() => this.open.delete(request));
    this.open.add(request);
  }

  private async request(method: string, path: string, body?: object): Promise<void> {
    const beganMs = performance.now();
    try {
      const response = await fetch(`${this.cluster.ready.base_url}${path}`, {
        method,
        headers: { authorization: `Bearer ${this.cluster.ready.api_key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(GIVE_UP_MS),
      });
      const text = await response.text();
      if (response.ok) {
        this.served++;
        if (method === 'POST') this.runIds.push(JSON.parse(text).run_id);
      } else if (response.status === 503 && response.headers.has('retry-after')) this.unavailable++;
      else this.wrong.add(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
    } catch (error) {
      this.wrong.add(`${method} ${path}: ${error instanceof Error ? error.name : 'failed'}`);
    }
    this.longestMs = Math.max(this.longestMs, performance.now() - beganMs);
  }
}
