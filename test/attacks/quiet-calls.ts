// An organization with ordinary load: a fixed number of runs a second, each started and awaited in one request.
import { Agent, request } from 'node:http';
import type { Stack } from '../e2e/stack.ts';

/** Of some windows together. */
export class QuietFigures {
  /** Replies that no quiet organization may get. */
  readonly wrong: string[] = [];
  private readonly times: number[] = [];

  add(ms: number): void {
    this.times.push(ms);
  }

  addAll(other: QuietFigures): void {
    this.times.push(...other.times);
    this.wrong.push(...other.wrong);
  }

  get calls(): number {
    return this.times.length;
  }

  ms(share: number): number {
    const sorted = this.times.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  }
}

const PER_SECOND = 30;

export class QuietCaller {
  // As a program has it: connections that are kept.
  private readonly agent = new Agent({ keepAlive: true });
  private readonly body: string;

  constructor(private readonly stack: Stack) {
    this.body = JSON.stringify({ method: stack.method('greet'), inputs: { name: 'Ada' } });
  }

  /** An open loop: a slow reply delays no later call. */
  async calls(forMs: number, ...figures: readonly QuietFigures[]): Promise<void> {
    const calls: Promise<void>[] = [];
    const beganMs = performance.now();
    for (let n = 0; (n * 1_000) / PER_SECOND < forMs; n++) {
      const dueMs = beganMs + (n * 1_000) / PER_SECOND;
      await new Promise((resolve) => setTimeout(resolve, dueMs - performance.now()));
      calls.push(this.call(figures));
    }
    await Promise.all(calls);
  }

  close(): void {
    this.agent.destroy();
  }

  private async call(figures: readonly QuietFigures[]): Promise<void> {
    const beganMs = performance.now();
    const wrong = await this.reply().then(
      ({ status, text }) => (status === 201 && text.includes('"status":"succeeded"') ? null : `${status} ${text}`),
      String,
    );
    for (const of of figures) {
      of.add(performance.now() - beganMs);
      if (wrong !== null) of.wrong.push(wrong);
    }
  }

  private reply(): Promise<{ status: number; text: string }> {
    const { agent, body, stack } = this;
    const headers = {
      authorization: `Bearer ${stack.ready.api_key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    return new Promise((resolve, reject) => {
      request(`${stack.ready.base_url}/v1/runs?wait_ms=20000`, { method: 'POST', agent, headers })
        .on('error', reject)
        .on('response', (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part) => (text += part));
          response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        })
        .end(body);
    });
  }
}
