// The fetch of http steps, with its own connections that end with the worker.
import type { Stoppable } from '@methods/base/stoppable';
import { Agent, fetch as undiciFetch } from 'undici';

const CONNECT_TIMEOUT_MS = 10_000;

export class StepFetch implements Stoppable {
  // The step's deadline bounds every wait; undici's own five minutes would cut longer ones short.
  private readonly agent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 });

  /** Pass it as `fetch` to `executeRun`. */
  readonly fetch: typeof fetch = (input, init) =>
    undiciFetch(
      input as Parameters<typeof undiciFetch>[0],
      { ...init, dispatcher: this.agent } as Parameters<typeof undiciFetch>[1],
    ) as unknown as Promise<Response>;

  /** Open requests fail. */
  stop(): Promise<void> {
    return this.agent.destroy();
  }
}
