// Asks a server where its workers connect, until it answers.
import { setTimeout as pause } from 'node:timers/promises';
import { Backoff } from '@methods/base/backoff';

const REPLY_MS = 10_000;

/** Empty: the server has no such address. Null: it was stopped. */
export async function schedulerAddresses(server: string, signal: AbortSignal): Promise<string[] | null> {
  const backoff = new Backoff({ firstMs: 100, maxMs: 5_000, jitter: 0.5 });
  for (;;) {
    try {
      const reply = await fetch(`${server}/.well-known/methods`, {
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(REPLY_MS)]),
      });
      const facts: unknown = await reply.json();
      if (reply.ok) {
        const { grpc_url: address } = Object(facts) as { grpc_url?: unknown };
        return typeof address === 'string' && address !== '' ? address.split(',') : [];
      }
    } catch {
      // The library's own requests report what is wrong with the server.
    }
    await pause(backoff.nextMs(), undefined, { signal }).catch(() => {});
    if (signal.aborted) return null;
  }
}
