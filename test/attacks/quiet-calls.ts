// An organization that goes about its business: so many runs a second, each started and awaited in one request.
import type { Stack } from '../e2e/stack.ts';

export interface QuietFigures {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Replies that no quiet organization may get. */
  readonly wrong: readonly string[];
}

const PER_SECOND = 12;

/** An open loop: a slow reply holds up no later call. */
export async function quietCalls(stack: Stack, forMs: number): Promise<QuietFigures> {
  const times: number[] = [];
  const wrong: string[] = [];
  const one = async () => {
    const beganMs = performance.now();
    try {
      const body = { method: stack.method('greet'), inputs: { name: 'Ada' } };
      const reply = await stack.api.start(body, '?wait_ms=20000');
      if (reply.status !== 201 || reply.run.status !== 'succeeded') wrong.push(`${reply.status} ${reply.text}`);
    } catch (error) {
      wrong.push(String(error));
    }
    times.push(performance.now() - beganMs);
  };
  const calls: Promise<void>[] = [];
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    calls.push(one());
    await new Promise((resolve) => setTimeout(resolve, 1_000 / PER_SECOND));
  }
  await Promise.all(calls);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { calls: times.length, p50Ms: at(0.5), p99Ms: at(0.99), wrong };
}
